// Playout policies: a weight for each move code, moves drawn by the softmax of weights, and Rosin's adaptation, as in
// agents/core/policy.py.  exp(weight) is kept beside each weight.
#pragma once
#include <cmath>
#include <vector>

#include "common.h"

struct Policy {
    std::vector<double> weight, odds;
    explicit Policy(int codes) : weight(codes, 0.0), odds(codes, 1.0) {}
};

// A sequence of moves, with the codes of all that were legal beside each.
struct Line {
    std::vector<int> codes, ends{0}, chosen, players;

    int plies() const { return chosen.size(); }

    void clear() {
        codes.clear();
        ends.assign(1, 0);
        chosen.clear();
        players.clear();
    }

    // Begin a ply: the codes of the legal moves in game.
    template <class Game>
    void list(const Game& game, const int* moves, int total) {
        for (int i = 0; i < total; i++) codes.push_back(game.code(moves[i]));
        ends.push_back(codes.size());
        players.push_back(game.player());
    }

    void choose(int i) { chosen.push_back(ends[ends.size() - 2] + i); }
};

// Which of the legal moves of a line's last ply to play.
inline int draw(const Policy& policy, const Line& line, Random& random) {
    static thread_local std::vector<double> sums;
    int first = line.ends[line.ends.size() - 2], total = line.ends.back() - first;
    sums.resize(total);
    double sum = 0;
    for (int i = 0; i < total; i++) sums[i] = sum += policy.odds[line.codes[first + i]];
    double aim = random.unit() * sum;
    int choice = 0;
    while (choice < total - 1 && sums[choice] <= aim) choice++;
    return choice;
}

// Play to the end, appending to the line.
template <class Game>
void play_line(const Policy& policy, Game& game, Line& line, Random& random) {
    int moves[Game::MAX_MOVES];
    while (!game.over()) {
        line.list(game, moves, game.legal_moves(moves));
        int choice = draw(policy, line, random);
        line.choose(choice);
        game.play(moves[choice]);
    }
}

// Adaptation in two halves: what an update adds is gathered by the weights as they were before it.
class Adaptation {
    std::vector<double> steps;

public:
    explicit Adaptation(int codes) : steps(codes, 0.0) {}

    void gather(const Policy& policy, const Line& line, int player) {
        for (int ply = 0; ply < line.plies(); ply++) {
            if (line.players[ply] != player) continue;
            double sum = 0;
            for (int i = line.ends[ply]; i < line.ends[ply + 1]; i++) sum += policy.odds[line.codes[i]];
            double scale = 1 / sum;
            for (int i = line.ends[ply]; i < line.ends[ply + 1]; i++)
                steps[line.codes[i]] -= scale * policy.odds[line.codes[i]];
            steps[line.codes[line.chosen[ply]]] += 1;
        }
    }

    void take(Policy& policy, const Line& line, int player) {
        for (int ply = 0; ply < line.plies(); ply++) {
            if (line.players[ply] != player) continue;
            for (int i = line.ends[ply]; i < line.ends[ply + 1]; i++) {
                int code = line.codes[i];
                if (steps[code] == 0) continue;
                policy.weight[code] += steps[code];
                policy.odds[code] = std::exp(policy.weight[code]);
                steps[code] = 0;
            }
        }
    }
};
