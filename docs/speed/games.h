// Games for two players as bitboards, with the rules, orders, evaluations and foresight of games/*.py.
#pragma once
#include <cstdlib>
#include <initializer_list>

#include "common.h"

// Connect 4 on 6 rows and 7 columns; columns have 7 bits.  A move is a column.
struct Connect4 {
    static constexpr int MAX_MOVES = 7, MOVE_LIMIT = 7, MAX_PLIES = 42, CODES = 128;
    static constexpr int SOONEST_WIN = 3, SOONEST_LOSS = 4;
    static constexpr u64 BOTTOM = 0x0040810204081, BOARD = BOTTOM * 63, COLUMN = 63;

    u64 own = 0, stones = 0;  // of the player to move, of both

    int player() const { return count(stones) & 1; }
    u64 free_squares() const { return (stones + BOTTOM) & BOARD; }
    u64 square(int move) const { return free_squares() & COLUMN << 7 * move; }

    static bool has_line(u64 set) {
        for (int step : {1, 7, 6, 8}) {
            u64 pairs = set & set >> step;
            if (pairs & pairs >> 2 * step) return true;
        }
        return false;
    }

    bool over() const { return stones == BOARD || has_line(own ^ stones); }
    int result() const { return !has_line(own ^ stones) ? 0 : player() == 1 ? 1 : -1; }

    static int list(u64 squares, int* moves) {
        int n = 0;
        for (; squares; squares &= squares - 1) moves[n++] = lowest(squares) / 7;
        return n;
    }

    int legal_moves(int* moves) const { return list(free_squares(), moves); }

    void play(int move) {
        u64 target = square(move);
        own ^= stones;
        stones |= target;
    }

    // The free squares where a stone makes four of `set`.
    static u64 winning_squares(u64 set, u64 stones) {
        u64 wins = set << 1 & set << 2 & set << 3;
        for (int step : {7, 6, 8}) {
            u64 above = set << step & set << 2 * step, below = set >> step & set >> 2 * step;
            wins |= above & (set << 3 * step | set >> step);
            wins |= below & (set >> 3 * step | set << step);
        }
        return wins & BOARD & ~stones;
    }

    int foreseen(bool& exact) const {
        u64 free = free_squares(), threats = winning_squares(own ^ stones, stones);
        exact = true;
        if (winning_squares(own, stones) & free) return 1;
        u64 forced = threats & free, answers = forced ? forced : free;
        return forced & (forced - 1) || !(answers & ~(threats >> 1)) ? -2 : 0;
    }

    int sound_moves(int* moves) const {
        u64 free = free_squares(), threats = winning_squares(own ^ stones, stones);
        u64 wins = winning_squares(own, stones) & free, forced = threats & free, safe = free & ~(threats >> 1);
        if (wins) return list(wins, moves);
        if (forced) return list(forced & -forced, moves);
        return list(safe ? safe : free & -free, moves);
    }

    int order(int move) const {
        u64 target = square(move);
        return count(winning_squares(own | target, stones | target)) * 7 - abs(2 * move - 6);
    }

    static int open_fours(u64 own, u64 other, int step) {
        u64 empty = BOARD & ~other, pairs = empty & empty >> step, fours = pairs & pairs >> 2 * step;
        u64 second = own >> step, third = own >> 2 * step, fourth = own >> 3 * step;
        u64 low = own ^ second, high = third ^ fourth, low_pair = own & second, high_pair = third & fourth;
        u64 odd = low ^ high, two = low_pair ^ high_pair ^ (low & high);  // binary digits of each four's stones
        return count(fours & odd & ~two) + 4 * count(fours & two & ~odd) + 16 * count(fours & odd & two) +
               64 * count(fours & low_pair & high_pair);
    }

    double evaluate() const {
        u64 first = player() == 0 ? own : own ^ stones, second = stones ^ first;
        int total = 0;
        for (int step : {1, 7, 6, 8}) total += open_fours(first, second, step) - open_fours(second, first, step);
        return total / (32.0 + abs(total));
    }

    u64 key() const { return own + stones + BOTTOM; }
    int code(int move) const { return 2 * lowest(square(move)) + player(); }

    int random_move(Random& random) const {
        u64 free = free_squares();
        return lowest(nth_bit(free, random.below(count(free)))) / 7;
    }

    // The result of random moves to the end.
    int random_playout(Random& random) const {
        u64 last = own ^ stones, all = stones;  // last: of the player who has just moved
        int mover = 1 - player();
        bool lined = has_line(last);
        while (!lined && all != BOARD) {
            u64 free = (all + BOTTOM) & BOARD, target = nth_bit(free, random.below(count(free)));
            last = (last ^ all) | target;
            all |= target;
            mover = 1 - mover;
            lined = has_line(last);
        }
        return !lined ? 0 : mover == 0 ? 1 : -1;
    }
};

// Breakthrough; a square is its row times the columns plus its column, a move 64 * origin + target.
template <int ROWS, int COLUMNS>
struct Breakthrough {
    static constexpr int MAX_MOVES = 6 * COLUMNS, MOVE_LIMIT = 4096, MAX_PLIES = 2 * COLUMNS * (2 * ROWS - 3);
    static constexpr int CODES = 4096, SOONEST_WIN = 3, SOONEST_LOSS = 4;
    static constexpr u64 LOW = (1ull << COLUMNS) - 1, HIGH = LOW << (ROWS - 1) * COLUMNS;
    static constexpr u64 BOARD = ROWS * COLUMNS == 64 ? ~0ull : (1ull << ROWS * COLUMNS % 64) - 1;

    u64 pawns[2] = {LOW | LOW << COLUMNS, HIGH | HIGH >> COLUMNS};
    int side = 0;

    int player() const { return side; }

    static constexpr u64 first_column() {
        u64 set = 0;
        for (int row = 0; row < ROWS; row++) set |= 1ull << row * COLUMNS;
        return set;
    }
    static constexpr u64 LEFT = BOARD & ~first_column(), RIGHT = BOARD & ~(first_column() << (COLUMNS - 1));

    // Moves of a set up the board for the first side, down for the second; beyond the board they may have bits.
    static u64 ahead(u64 set, int side) { return side == 0 ? set << COLUMNS : set >> COLUMNS; }
    static u64 left(u64 set, int side) { return side == 0 ? (set & LEFT) << (COLUMNS - 1) : (set & LEFT) >> (COLUMNS + 1); }
    static u64 right(u64 set, int side) { return side == 0 ? (set & RIGHT) << (COLUMNS + 1) : (set & RIGHT) >> (COLUMNS - 1); }

    struct Targets {
        u64 ahead, left, right;
    };

    static Targets targets(u64 own, u64 other, int side) {
        u64 free = BOARD & ~own;
        return {ahead(own, side) & free & ~other, left(own, side) & free, right(own, side) & free};
    }

    bool over() const { return pawns[0] & HIGH || pawns[1] & LOW || !pawns[0] || !pawns[1]; }
    int result() const { return side == 1 ? 1 : -1; }

    static int list(u64 squares, int step, int* moves, int n) {
        for (; squares; squares &= squares - 1) {
            int target = lowest(squares);
            moves[n++] = (target - step) << 6 | target;
        }
        return n;
    }

    int legal_moves(int* moves) const {
        Targets t = targets(pawns[side], pawns[1 - side], side);
        int step = side == 0 ? COLUMNS : -COLUMNS;
        return list(t.right, step + 1, moves, list(t.left, step - 1, moves, list(t.ahead, step, moves, 0)));
    }

    void play(int move) {
        u64 target = 1ull << (move & 63);
        pawns[side] ^= 1ull << (move >> 6) | target;
        pawns[1 - side] &= ~target;
        side = 1 - side;
    }

    static u64 rows_to_go(int side, int rows) { return LOW << (side == 0 ? ROWS - 1 - rows : rows) * COLUMNS; }

    // The race patterns of Saffidine, Jouandeau & Cazenave (2011).
    int foreseen(bool& exact) const {
        u64 own = pawns[side], other = pawns[1 - side], near = rows_to_go(side, 1);
        u64 struck = left(own, side) | right(own, side);
        exact = true;
        if (own & near || (other & struck && count(other) == 1)) return 1;
        u64 threats = other & rows_to_go(1 - side, 1);
        Targets t = targets(own, other, side);
        u64 by_left = left(other, 1 - side), by_right = right(other, 1 - side);
        u64 reached[3] = {t.ahead | t.left | t.right, (t.ahead & t.left) | ((t.ahead | t.left) & t.right),
                          t.ahead & t.left & t.right};
        u64 guarded[3] = {by_left | by_right, by_left & by_right, 0};
        u64 answers = threats ? threats & struck : reached[0];
        if (!answers || count(threats) > 1) return -2;
        if (count(own) == 1 && !(answers & ~guarded[0])) return -2;
        if (threats) return 0;
        for (int i = 0; i < 3; i++)
            if (reached[i] & near & ~guarded[i]) {
                exact = i == 0;
                return 3 + 2 * i;
            }
        exact = false;
        return race(own, other);
    }

    int race(u64 own, u64 other) const {
        int mine = 2, theirs = 2;
        while (!(own & rows_to_go(side, mine))) mine++;
        while (!(other & rows_to_go(1 - side, theirs))) theirs++;
        for (int rows = mine; rows <= (theirs < ROWS - 2 ? theirs : ROWS - 2); rows++)
            if (has_runner(own, other, side, rows, 0)) return 2 * rows - 1;
        for (int rows = theirs; rows < (mine < ROWS - 1 ? mine : ROWS - 1); rows++)
            if (has_runner(other, own, 1 - side, rows, 1)) return -2 * rows;
        return 0;
    }

    static bool has_runner(u64 own, u64 other, int side, int rows, int late) {
        for (u64 set = own & rows_to_go(side, rows); set; set &= set - 1) {
            const u64* stoppers = table.stoppers[side][lowest(set)];
            if (!(other & stoppers[late]) && !(own & stoppers[2])) return true;
        }
        return false;
    }

    // For a pawn: where pawns stop it that move second, that move first; and the squares straight ahead.
    struct Table {
        u64 stoppers[2][64][3] = {};
        Table() {
            for (int side = 0; side < 2; side++)
                for (int pawn = 0; pawn < ROWS * COLUMNS; pawn++)
                    for (int other = 0; other < ROWS * COLUMNS; other++) {
                        int rows = (other / COLUMNS - pawn / COLUMNS) * (side == 0 ? 1 : -1);
                        int beside = abs(other % COLUMNS - pawn % COLUMNS);
                        for (int i = 0; i < 3 && rows > 0; i++)
                            if (beside <= (i == 0 ? rows / 2 : i == 1 ? (rows + 1) / 2 : 0))
                                stoppers[side][pawn][i] |= 1ull << other;
                    }
        }
    };
    static inline const Table table;

    int sound_moves(int* moves) const {
        u64 own = pawns[side], threats = pawns[1 - side] & rows_to_go(1 - side, 1), wanted = 0;
        if (own & rows_to_go(side, 1))
            wanted = side == 0 ? HIGH : LOW;
        else if (threats & (left(own, side) | right(own, side)))
            wanted = threats;
        int total = legal_moves(moves), n = 0;
        if (!wanted) return total;
        for (int i = 0; i < total; i++)
            if (wanted >> (moves[i] & 63) & 1) moves[n++] = moves[i];
        return n;
    }

    int order(int move) const {
        int row = (move & 63) / COLUMNS, ahead = side == 0 ? row : ROWS - 1 - row;
        return ahead + (ahead == ROWS - 1 ? ROWS : 0) + ROWS * int(pawns[1 - side] >> (move & 63) & 1);
    }

    double evaluate() const {
        double weight[2] = {0, 0};
        for (int side = 0; side < 2; side++)
            for (int row = 0; row < ROWS; row++) {
                int ahead = side == 0 ? row : ROWS - 1 - row;
                weight[side] += count(pawns[side] & LOW << row * COLUMNS) * (3.0 + ahead * ahead / 3.0);
            }
        return (weight[0] - weight[1]) / (weight[0] + weight[1]);
    }

    // The result of random moves to the end.
    int random_playout(Random& random) const {
        u64 first = pawns[0], second = pawns[1];
        if (over()) return result();
        if (side == 1 && random_step<1>(second, first, random)) return -1;
        while (true) {
            if (random_step<0>(first, second, random)) return 1;
            if (random_step<1>(second, first, random)) return -1;
        }
    }

    // A random move; true if it ends the game.
    template <int SIDE>
    static bool random_step(u64& own, u64& other, Random& random) {
        Targets t = targets(own, other, SIDE);
        int n_ahead = count(t.ahead), n_left = count(t.left), n = random.below(n_ahead + n_left + count(t.right));
        bool beyond_ahead = n >= n_ahead, beyond_left = n >= n_ahead + n_left;
        u64 set = beyond_left ? t.right : beyond_ahead ? t.left : t.ahead;
        n -= beyond_left ? n_ahead + n_left : beyond_ahead ? n_ahead : 0;
        int sideways = beyond_left ? 1 : beyond_ahead ? -1 : 0;
        u64 target = nth_bit(set, n), origin = SIDE == 0 ? target >> (COLUMNS + sideways) : target << (COLUMNS - sideways);
        own ^= origin | target;
        other &= ~target;
        return target & (SIDE == 0 ? HIGH : LOW) || !other;
    }

    u64 key() const { return mix(mix(mix(pawns[0] + GAMMA) + pawns[1] + GAMMA) + side + GAMMA); }
    int code(int move) const { return move; }
};
