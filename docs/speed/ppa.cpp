// PPA (Cazenave, 2015) on Breakthrough 8x8, with the decisions of the agent ppa(playouts=PLAYOUTS): UCT with K = 0.4
// whose playouts follow a policy that learns from each winner.
#include "games.h"
#include "policy.h"
#include "tree.h"

const double EXPLORATION = 0.4;

template <class Game>
struct PPA {
    Policy policy{Game::CODES};
    Adaptation adaptation{Game::CODES};
    Line in_tree, playout;

    int select(const Tree<Game>& tree, const Game& game) {
        int best = tree.largest_bound(EXPLORATION);
        if (tree.length == 1) in_tree.clear();
        int moves[Game::MAX_MOVES], total = game.legal_moves(moves), i = 0;
        in_tree.list(game, moves, total);
        while (moves[i] != tree.nodes[best].move) i++;
        in_tree.choose(i);
        return best;
    }

    double play_out(const Tree<Game>&, Game& game, Random& random) {
        playout.clear();
        play_line(policy, game, playout, random);
        return 0.5 * (game.result() + 1);
    }

    void note(Node& node) { node.note(); }
    void learn(const Tree<Game>&, double reward) {
        int winner = reward == 1 ? 0 : 1;  // there are no draws
        adaptation.gather(policy, playout, winner);
        adaptation.gather(policy, in_tree, winner);
        adaptation.take(policy, playout, winner);
        adaptation.take(policy, in_tree, winner);
    }
};

int main(int argc, char** argv) {
    typedef Breakthrough<8, 8> Game;
    if (argc != 3) usage("ppa PLAYOUTS SEED");
    int playouts = atoi(argv[1]);
    u64 seed = strtoull(argv[2], nullptr, 10);
    return serve([=] {
        Tree<Game> tree;
        PPA<Game> rule;
        return tree.search(rule, Game(), playouts, Random{seed});
    });
}
