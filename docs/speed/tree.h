// Monte-Carlo tree search: select, expand, play out, back up, as agents/montecarlo/search.py has it.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "common.h"

struct Node {
    int move, visits = 0, first = 0, children = 0;
    double value = 0;  // the sum of rewards of the player who moved into the node
    float mean = 0, root = 0;  // for largest_bound: value / visits, 1 / sqrt(visits)

    void note() {
        float share = 1.0f / visits;
        mean = float(value) * share, root = std::sqrt(share);
    }
};

// A rule has select(tree, game): the child to go to; play_out(tree, game, random): the first player's reward, from the
// end of the path; note(node), whose visits and value have changed; and learn(tree, reward).
template <class Game>
struct Tree {
    std::vector<Node> nodes{{-1}};
    int path[Game::MAX_PLIES + 1] = {}, movers[Game::MAX_PLIES + 1], length = 1;  // movers[i] moved into path[i]

    int last() const { return path[length - 1]; }

    // UCB1's child of the path's last node: an unvisited one, or that of the largest bound, in single precision but for
    // its three lowest bits.
    int largest_bound(double exploration) const {
        const Node& node = nodes[last()];
        float scale = float(exploration) * float(std::sqrt(std::log(double(std::max(node.visits, 1)))));
        int best = node.first, best_key = -1;
        for (int child = node.first; child < node.first + node.children; child++) {
            const Node& one = nodes[child];
            if (!one.visits) return child;
            int key = std::bit_cast<int>(one.mean + scale * one.root) & ~7;
            if (key > best_key) best = child, best_key = key;
        }
        return best;
    }

    void expand(int node, const Game& game, Random& random) {
        int moves[Game::MAX_MOVES], total = game.legal_moves(moves);
        for (int i = total - 1; i > 0; i--) std::swap(moves[i], moves[random.below(i + 1)]);
        nodes[node].first = nodes.size();
        nodes[node].children = total;
        for (int i = 0; i < total; i++) nodes.push_back({moves[i]});
    }

    template <class Rule>
    void simulate(Rule& rule, const Game& root, Random& random) {
        Game game = root;
        length = 1;
        while (!game.over()) {
            int node = last();
            if (!nodes[node].children) {
                if (!nodes[node].visits) break;
                expand(node, game, random);
            }
            int child = rule.select(*this, game);
            movers[length] = game.player();
            path[length++] = child;
            game.play(nodes[child].move);
        }
        double reward = rule.play_out(*this, game, random);
        for (int i = 0; i < length; i++) {
            Node& node = nodes[path[i]];
            node.visits++;
            if (i == 0) continue;
            node.value += movers[i] == 0 ? reward : 1 - reward;
            rule.note(node);
        }
        rule.learn(*this, reward);
    }

    template <class Rule>
    Result search(Rule& rule, const Game& root, int simulations, Random random) {
        expand(0, root, random);
        for (int i = 0; i < simulations; i++) simulate(rule, root, random);
        u64 check = nodes.size();
        int moves[Game::MAX_MOVES], total = root.legal_moves(moves);
        for (int i = 0; i < total; i++)
            for (int child = 1; child <= total; child++)
                if (nodes[child].move == moves[i]) check = checked(check, moves[i], nodes[child].visits);
        return {u64(simulations), check};
    }
};
