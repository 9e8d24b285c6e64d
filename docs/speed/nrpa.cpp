// NRPA (Rosin, 2011), with the playouts of the agent nrpa(level=LEVEL, iterations=ITERATIONS): on SameGame 15x15 with a
// random board of five colours, on arrays of cells; and on Morpion Solitaire 5D, with a list of legal moves kept up.
#include <algorithm>
#include <cstring>

#include "policy.h"

const int SIDE = 15;

struct SameGame {
    static constexpr int MAX_MOVES = SIDE * SIDE / 2, CODES = 256 * 6;

    // Columns of 16 cells from the left, the lowest cell first; 0 is empty, as are a column before and one behind.
    uint8_t room[18 * 16] = {}, *cells = room + 16;
    int score = 0, groups[MAX_MOVES], total = 0;

    explicit SameGame(Random random) {
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++) cells[16 * column + row] = 1 + random.below(5);
        find_groups();
    }
    SameGame(const SameGame& other) { *this = other; }
    SameGame& operator=(const SameGame& other) {
        memcpy(room, other.room, sizeof room);
        memcpy(groups, other.groups, sizeof groups);
        score = other.score, total = other.total;
        return *this;
    }

    int player() const { return 0; }
    bool over() const { return total == 0; }
    int code(int move) const { return cells[move] << 8 | move; }

    int legal_moves(int* moves) const {
        memcpy(moves, groups, total * sizeof(int));
        return total;
    }

    // The cells of a group, from one of them; `seen` is marked.
    int flood(int cell, uint8_t* seen, int* found) const {
        int n = 0;
        found[n++] = cell;
        seen[cell] = 1;
        for (int i = 0; i < n; i++)
            for (int step : {1, -1, 16, -16}) {
                int next = found[i] + step;
                if (cells[next] == cells[cell] && !seen[next]) {
                    seen[next] = 1;
                    found[n++] = next;
                }
            }
        return n;
    }

    // A group's move is its lowest cell at the left: the first that is met.
    void find_groups() {
        uint8_t seen_room[18 * 16] = {}, *seen = seen_room + 16;
        int found[SIDE * SIDE];
        total = 0;
        for (int column = 0; cells[column] && column < 16 * SIDE; column += 16)
            for (int cell = column; cells[cell]; cell++) {
                bool joined = cells[cell] == cells[cell + 1] || cells[cell] == cells[cell + 16];
                if (!joined || seen[cell]) continue;
                flood(cell, seen, found);
                groups[total++] = cell;
            }
    }

    void play(int move) {
        uint8_t seen_room[18 * 16] = {}, *seen = seen_room + 16;
        int found[SIDE * SIDE], size = flood(move, seen, found), target = 0;
        score += (size - 2) * (size - 2);
        for (int i = 0; i < size; i++) cells[found[i]] = 0;
        for (int column = 0; column < 16 * SIDE; column += 16) {
            int height = 0;
            uint8_t fallen[16] = {};
            for (int row = 0; row < SIDE; row++)
                if (cells[column + row]) fallen[height++] = cells[column + row];
            memset(cells + column, 0, 16);
            if (height) memcpy(cells + target, fallen, 16), target += 16;
        }
        if (!target) score += 1000;
        find_groups();
    }
};

struct Morpion {
    static constexpr int WIDTH = 32, LENGTH = 5, MAX_MOVES = 256, CODES = WIDTH * WIDTH * 4 * LENGTH;
    static constexpr int ACROSS[4] = {1, 0, 1, -1}, UP[4] = {0, 1, 1, 1};

    struct Move {
        int number, point;
    };

    bool points[WIDTH * WIDTH] = {}, used[4][WIDTH * WIDTH] = {};  // used: by a line of that direction
    Move list[MAX_MOVES];
    int total = 0, score = 0;

    Morpion() {
        const int corners[13][2] = {{1, 0}, {2, 0}, {2, 1}, {3, 1}, {3, 2}, {2, 2}, {2, 3},
                                    {1, 3}, {1, 2}, {0, 2}, {0, 1}, {1, 1}, {1, 0}};
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 3; j++) {
                int row = 3 * corners[i][0] + j * (corners[i + 1][0] - corners[i][0]);
                int column = 3 * corners[i][1] + j * (corners[i + 1][1] - corners[i][1]);
                add_point((11 + row) * WIDTH + 11 + column);
            }
    }

    int player() const { return 0; }
    bool over() const { return total == 0; }
    int code(int move) const { return move; }

    int legal_moves(int* moves) const {
        for (int i = 0; i < total; i++) moves[i] = list[i].number;
        return total;
    }

    static int step(int direction) { return UP[direction] * WIDTH + ACROSS[direction]; }

    bool is_free(int start, int direction) const {
        for (int i = 0; i < LENGTH; i++)
            if (used[direction][start + i * step(direction)]) return false;
        return true;
    }

    void play(int move) {
        int place = move % LENGTH, start = move / LENGTH >> 2, direction = move / LENGTH & 3;
        for (int i = 0; i < LENGTH; i++) used[direction][start + i * step(direction)] = true;
        score++;
        add_point(start + place * step(direction));
    }

    // Put a point: moves that put theirs there, or whose line is taken, go; moves that the point makes possible come.
    void add_point(int point) {
        int kept = 0;
        for (int i = 0; i < total; i++)
            if (list[i].point != point && is_free(list[i].number / LENGTH >> 2, list[i].number / LENGTH & 3))
                list[kept++] = list[i];
        total = kept;
        points[point] = true;
        for (int direction = 0; direction < 4; direction++)
            for (int back = 0; back < LENGTH; back++) try_line(point, direction, back);
    }

    // Add the move that completes a line, if one point is missing.
    void try_line(int point, int direction, int back) {
        int row = point / WIDTH - back * UP[direction], column = point % WIDTH - back * ACROSS[direction];
        int last = column + (LENGTH - 1) * ACROSS[direction];
        if (row < 0 || row + (LENGTH - 1) * UP[direction] >= WIDTH) return;
        if (column < 0 || column >= WIDTH || last < 0 || last >= WIDTH) return;
        int start = row * WIDTH + column, missing = 0, place = 0;
        for (int i = 0; i < LENGTH; i++)
            if (!points[start + i * step(direction)]) missing++, place = i;
        if (missing != 1 || !is_free(start, direction)) return;
        Move made = {(4 * start + direction) * LENGTH + place, start + place * step(direction)};
        int i = total++;
        for (; i > 0 && list[i - 1].number > made.number; i--) list[i] = list[i - 1];
        list[i] = made;
    }
};

template <class Game>
struct NRPA {
    const Game& root;
    int iterations;
    Random random;
    Adaptation adaptation{Game::CODES};
    std::vector<Policy> policies;
    std::vector<Line> lines;
    u64 playouts = 0, improvements = 0;  // improvements: the sum of the playouts that were better than all before
    int best_score = -1;

    NRPA(const Game& root, int levels, int iterations, u64 seed)
        : root(root), iterations(iterations), random{seed}, policies(levels + 1, Policy(Game::CODES)), lines(levels + 1) {}

    // The best score of a level; the sequence is left in its line.
    int search(int level) {
        if (level == 0) return play_out();
        Line& best = lines[level];
        int best_value = -1;
        policies[level - 1] = policies[level];
        for (int i = 0; i < iterations; i++) {
            int value = search(level - 1);
            if (value >= best_value) {
                best_value = value;
                std::swap(best, lines[level - 1]);
            }
            if (i == iterations - 1) break;
            adaptation.gather(policies[level - 1], best, 0);
            adaptation.take(policies[level - 1], best, 0);
        }
        return best_value;
    }

    int play_out() {
        Game game = root;
        lines[0].clear();
        play_line(policies[0], game, lines[0], random);
        playouts++;
        if (game.score > best_score) best_score = game.score, improvements += playouts;
        return game.score;
    }
};

template <class Game>
int run(const Game& root, char** argv) {
    int levels = atoi(argv[2]), iterations = atoi(argv[3]);
    u64 seed = strtoull(argv[4], nullptr, 10);
    return serve([=] {
        NRPA<Game> search(root, levels, iterations, seed);
        search.search(levels);
        return Result{search.playouts, checked(search.playouts, search.best_score, search.improvements)};
    });
}

int main(int argc, char** argv) {
    if (argc == 6 && strcmp(argv[1], "samegame") == 0) return run(SameGame({strtoull(argv[5], nullptr, 10)}), argv);
    if (argc == 5 && strcmp(argv[1], "morpion") == 0) return run(Morpion(), argv);
    usage("nrpa samegame LEVEL ITERATIONS SEED SEED_OF_THE_BOARD, or nrpa morpion LEVEL ITERATIONS SEED");
}
