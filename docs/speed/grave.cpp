// GRAVE (Cazenave, 2015) on Connect 4, with the decisions of the agent grave(playouts=PLAYOUTS).
// AMAF counts lie in an array for each node that has been visited.
#include <bitset>

#include "games.h"
#include "tree.h"

const int REF = 50;
const double BIAS = 1e-5;

template <class Game>
struct Grave {
    struct Count {
        int visits = 0, twice_reward = 0;
    };
    struct Counts {
        Count of[Game::CODES];
    };

    std::vector<Counts> amaf;
    std::vector<int> place;  // of a node's counts, or -1
    int line[Game::MAX_PLIES], players[Game::MAX_PLIES], plies = 0;  // codes and movers of a simulation

    Counts& counts(int node) {
        if (node >= int(place.size())) place.resize(node + 1, -1);
        if (place[node] < 0) {
            place[node] = amaf.size();
            amaf.push_back({});
        }
        return amaf[place[node]];
    }

    int select(const Tree<Game>& tree, const Game& game) {
        int i = tree.length - 1;
        while (i > 0 && tree.nodes[tree.path[i]].visits <= REF) i--;
        const Counts& reference = counts(tree.path[i]);
        const Node& node = tree.nodes[tree.last()];
        int best = node.first, best_code = 0;
        double best_value = -1;
        for (int child = node.first; child < node.first + node.children; child++) {
            int code = game.code(tree.nodes[child].move);
            double value = value_of(tree.nodes[child], reference.of[code]);
            if (value > best_value) best = child, best_value = value, best_code = code;
        }
        note(tree.length - 1, best_code, game.player());
        return best;
    }

    static double value_of(const Node& child, const Count& count) {
        int visits = child.visits, seen = count.visits;
        if (!visits && !seen) return 100;
        double share = seen / (seen + visits + BIAS * seen * visits);
        double mean = child.value / std::max(visits, 1), amaf = 0.5 * count.twice_reward / std::max(seen, 1);
        return (1 - share) * mean + share * amaf;
    }

    void note(int ply, int code, int player) {
        line[ply] = code;
        players[ply] = player;
        plies = ply + 1;
    }

    double play_out(const Tree<Game>& tree, Game& game, Random& random) {
        plies = tree.length - 1;
        while (!game.over()) {
            int move = game.random_move(random);
            note(plies, game.code(move), game.player());
            game.play(move);
        }
        return 0.5 * (game.result() + 1);
    }

    void note(Node&) {}
    void learn(const Tree<Game>& tree, double reward) {
        int twice = int(2 * reward);
        for (int i = 0; i < tree.length; i++) {
            Counts& own = counts(tree.path[i]);
            std::bitset<Game::CODES> seen;
            for (int j = i; j < plies; j++) {
                if (seen[line[j]]) continue;
                seen[line[j]] = true;
                own.of[line[j]].visits++;
                own.of[line[j]].twice_reward += players[j] == 0 ? twice : 2 - twice;
            }
        }
    }
};

int main(int argc, char** argv) {
    if (argc != 3) usage("grave PLAYOUTS SEED");
    int playouts = atoi(argv[1]);
    u64 seed = strtoull(argv[2], nullptr, 10);
    return serve([=] {
        Tree<Connect4> tree;
        Grave<Connect4> rule;
        return tree.search(rule, Connect4(), playouts, Random{seed});
    });
}
