// SPDX-License-Identifier: Apache-2.0
//
// States and exceptions: what tests/native/states expects of it is written there.
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

#include "watch.h"

struct Node {
    int state = 1;
    int rounds = 2;
    std::function<void()> then;
};

static Node node;

extern "C" void keep(void *p);

struct Guard {
    const char *what;
    ~Guard()
    {
        say(what);
    }
};

// Throws from a state of its own; does not catch, so nothing of it runs when it is left.
void throws(Node *n, void *)
{
    if (n->state)
        say("throws");
    if (std::rand() >= 0)
        throw std::runtime_error("thrown");
}

// Has no states, but catches: what was before the call is there again.
static void catches_alone(Node *n)
{
    try {
        throws(n, nullptr);
    } catch (const std::exception &) {
        say("caught alone");
    }
}

static void catches(Node *n)
{
    if (n->state) {
        say("trying");
        try {
            throws(n, nullptr);
        } catch (const std::exception &) {
            say("caught");
        }
    }
}

static void cleans(Node *n)
{
    Guard guard{"cleaning"};
    if (n->state)
        throws(n, nullptr);
}

static void outer(Node *n)
{
    try {
        cleans(n);
    } catch (...) {
        say("outer");
    }
    catches_alone(n);
}

static void worker(Node *n)
{
    while (n->rounds > 0) {
        say("worker");
        n->rounds--;
    }
}

int main()
{
    keep(reinterpret_cast<void *>(throws));
    keep(reinterpret_cast<void *>(catches));
    keep(reinterpret_cast<void *>(cleans));
    keep(reinterpret_cast<void *>(outer));
    catches(&node);
    say("main");
    outer(&node);
    say("main");
    std::thread(worker, &node).join();
    std::thread([] {
        if (node.state)
            say("lambda");
    }).join();
    node.then = [] { say("function"); };
    node.then();
    return 0;
}
