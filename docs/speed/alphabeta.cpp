// Alpha-beta to a fixed depth, as a recursion: agent alphabeta(depth=DEPTH) with its usual aids, node for node.
// Transposition table of 16 MiB; moves ordered by table, game, killers and history; principal variation search
// (Marsland & Campbell, 1982); quickest wins; foreseen ends, and moves left out that are no better than others.
#include <cmath>
#include <cstring>

#include "games.h"
#include "table.h"

const double WIN = 10000, INFINITE = 1e9;
const int64_t EXACT = 0, LOWER = 1, UPPER = 2, CERTAIN = (1 << 22) - 1;  // CERTAIN: searched to any depth
const int64_t TABLE_RANK = 1ll << 60, KILLER_RANK = 1 << 19, MOST_HISTORY = (1 << 19) - 1;

int64_t bits_of(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double value_of(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class Game>
class AlphaBeta {
    Table table{16};
    int killers[Game::MAX_PLIES + 1][2];
    int64_t history[2][Game::MOVE_LIMIT] = {};

public:
    u64 nodes = 0, evaluated = 0;
    int best_move = -1;

    AlphaBeta() { memset(killers, -1, sizeof killers); }

    double root(const Game& game, int depth, Random random) {
        int moves[Game::MAX_MOVES], total = game.legal_moves(moves);
        for (int i = total - 1; i > 0; i--) std::swap(moves[i], moves[random.below(i + 1)]);
        Node node = {0, depth, -INFINITE, INFINITE, -INFINITE, moves, nullptr, total};
        try_moves(game, node);
        best_move = node.move;
        return node.best;
    }

private:
    struct Node {
        int ply, draft;
        double alpha, beta, best;
        int* moves;
        int64_t* ranks;  // none at the root, whose moves have their order
        int total, move = -1;
    };

    // The value of the game for its player, who may count on alpha and will not get more than beta.
    double search(const Game& game, int ply, int draft, double alpha, double beta) {
        double floor = alpha, worst = ply + Game::SOONEST_LOSS - WIN;
        beta = std::min(beta, WIN - (ply + Game::SOONEST_WIN));
        if (alpha >= beta || worst >= beta) return std::max(beta, worst);
        u64 key = game.key(), entered = nodes, evaluated_before = evaluated;
        int64_t bits, packed, table_move = -1;
        if (table.probe(key, bits, packed)) {
            double value = value_of(bits);
            if (std::abs(value) > 1) value -= value > 0 ? ply : -ply;
            int64_t searched = packed >> 2 & CERTAIN, bound = packed & 3;
            bool usable = bound == EXACT || (bound == LOWER ? value >= beta : value <= alpha);
            if (usable && (searched == CERTAIN || searched == draft)) {
                evaluated += searched != CERTAIN;
                return value;
            }
            table_move = (packed >> 24) - 1;
        }
        int moves[Game::MAX_MOVES];
        int64_t ranks[Game::MAX_MOVES];
        Node node = {ply, draft, alpha, beta, -INFINITE, moves, ranks, 0};
        node.total = draft > 1 ? game.sound_moves(moves) : game.legal_moves(moves);
        rank_moves(game, node, table_move);
        try_moves(game, node);
        keep(node, key, floor, entered, evaluated_before);
        return node.best;
    }

    void rank_moves(const Game& game, Node& node, int64_t table_move) {
        for (int i = 0; i < node.total; i++) {
            int move = node.moves[i];
            bool killer = move == killers[node.ply][0] || move == killers[node.ply][1];
            node.ranks[i] = game.order(move) * (1ll << 20) + killer * KILLER_RANK +
                            std::min(history[game.player()][move], MOST_HISTORY) + (move == table_move) * TABLE_RANK;
        }
    }

    static void bring_best_forward(Node& node, int begin) {
        int best = begin;
        for (int i = begin + 1; i < node.total; i++)
            if (node.ranks[i] > node.ranks[best]) best = i;
        std::rotate(node.moves + begin, node.moves + best, node.moves + best + 1);
        std::rotate(node.ranks + begin, node.ranks + best, node.ranks + best + 1);
    }

    void try_moves(const Game& game, Node& node) {
        for (int i = 0; i < node.total && node.best < node.beta; i++) {
            if (node.ranks) bring_best_forward(node, i);
            double value, narrow = i > 0 ? std::min(node.beta, std::nextafter(node.alpha, INFINITE)) : node.beta;
            if (!try_move(game, node, node.moves[i], narrow, value) && i > 0 && node.alpha < value && value < node.beta)
                try_move(game, node, node.moves[i], node.beta, value);
            if (value <= node.best) continue;
            node.best = value;
            node.alpha = std::max(value, node.alpha);
            node.move = node.moves[i];
            if (value >= node.beta) note_cutoff(game, node);
        }
    }

    // The value of a move, in a window up to `beta`; true if the position after it is a leaf.
    bool try_move(const Game& game, Node& node, int move, double beta, double& value) {
        Game child = game;
        child.play(move);
        nodes++;
        int plies = node.ply + 1;
        if (child.over()) {
            value = child.result() == 0 ? 0 : WIN - plies;
            return true;
        }
        bool exact;
        if (int found = child.foreseen(exact)) {
            value = found > 0 ? plies + found - WIN : WIN - (plies - found);
            if (exact || (value > 0 ? value >= node.beta : value <= node.alpha)) return true;
        }
        if (node.draft == 1) {
            evaluated++;
            value = child.evaluate() * (game.player() == 0 ? 1 : -1);
            return true;
        }
        value = -search(child, plies, node.draft - 1, -beta, -node.alpha);
        return false;
    }

    void note_cutoff(const Game& game, const Node& node) {
        int* killer = killers[node.ply];
        if (killer[0] != node.move) killer[1] = killer[0], killer[0] = node.move;
        history[game.player()][node.move] += node.draft * node.draft;
    }

    void keep(const Node& node, u64 key, double floor, u64 entered, u64 evaluated_before) {
        double value = node.best;
        int64_t bound = value >= node.beta ? LOWER : value <= floor ? UPPER : EXACT, searched = node.draft;
        if (evaluated == evaluated_before) {
            searched = CERTAIN;
        } else if (std::abs(value) > 1 && bound != (value > 0 ? UPPER : LOWER)) {
            searched = CERTAIN;
            bound = value > 0 ? LOWER : UPPER;
        }
        if (std::abs(value) > 1) value += value > 0 ? node.ply : -node.ply;
        int64_t packed = int64_t(node.move + 1) << 24 | searched << 2 | bound;
        table.store(key, bits_of(value), packed, nodes - entered);
    }
};

template <class Game>
int run(int depth, u64 seed) {
    return serve([=] {
        AlphaBeta<Game> search;
        search.root(Game(), depth, Random{seed});
        return Result{search.nodes, checked(search.nodes, search.best_move, 0)};
    });
}

int main(int argc, char** argv) {
    if (argc != 4) usage("alphabeta connect4|breakthrough DEPTH SEED");
    int depth = atoi(argv[2]);
    u64 seed = strtoull(argv[3], nullptr, 10);
    return strcmp(argv[1], "connect4") == 0 ? run<Connect4>(depth, seed) : run<Breakthrough<8, 8>>(depth, seed);
}
