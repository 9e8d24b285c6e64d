// Monte-Carlo tree search: select, expand, play out, back up, as agents/montecarlo/search.py has it.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common.h"

struct Node {
    int move, visits = 0, first = 0, children = 0;
    double value = 0;  // the sum of rewards of the player who moved into the node
};

// A rule has select(tree, game): the child to go to; play_out(tree, game, random): the first player's reward, from the
// end of the path; and learn(tree, reward).
template <class Game>
struct Tree {
    std::vector<Node> nodes{{-1}};
    int path[Game::MAX_PLIES + 1] = {}, movers[Game::MAX_PLIES + 1], length = 1;  // movers[i] moved into path[i]

    int last() const { return path[length - 1]; }

    // UCB1's child of the path's last node, in single precision: an unvisited one, or that of the largest bound.
    int largest_bound(double exploration) const {
        const Node& node = nodes[last()];
        float scale = exploration * exploration * std::log(double(std::max(node.visits, 1))), best_bound = -1;
        int best = node.first;
        for (int child = node.first; child < node.first + node.children; child++) {
            const Node& one = nodes[child];
            if (!one.visits) return child;
            float share = 1.0f / one.visits, bound = float(one.value) * share + std::sqrt(scale * share);
            if (bound > best_bound) best = child, best_bound = bound;
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
            if (i > 0) node.value += movers[i] == 0 ? reward : 1 - reward;
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
