/* SPDX-License-Identifier: Apache-2.0 */
#include "search/tree.h"

void tree_init(struct tree *tree, bool stateless)
{
    *tree = (struct tree){.stateless = stateless};
    vec_push(&tree->nodes, (struct tree_node){0});
}

void tree_deinit(struct tree *tree)
{
    vec_deinit(&tree->nodes);
    vec_deinit(&tree->root_of);
}

uint32_t tree_key(const struct tree *tree, struct names *names, uid handler)
{
    if (!tree->stateless)
        return handler;
    struct element el = *uid_element(names, handler);
    el.n = 0;
    el.before = 0;
    return names_element(names, el);
}

uint32_t tree_find_root(const struct tree *tree, struct names *names, uid handler)
{
    uint32_t key = tree_key(tree, names, handler);
    return key < tree->root_of.n ? tree->root_of.at[key] : NODE_NONE;
}

uint32_t tree_root(struct tree *tree, struct names *names, uid handler)
{
    uint32_t key = tree_key(tree, names, handler);
    while (tree->root_of.n <= key)
        vec_push(&tree->root_of, NODE_NONE);
    if (tree->root_of.at[key] == NODE_NONE) {
        tree->root_of.at[key] = tree->nodes.n;
        vec_push(&tree->nodes, (struct tree_node){.element = handler, .state = EDGE_SEEN});
    }
    return tree->root_of.at[key];
}

uint32_t tree_find(const struct tree *tree, uint32_t node, uint32_t element, label l)
{
    uint32_t c = tree->nodes.at[node].child;
    while (c != NODE_NONE && (tree->nodes.at[c].label != l || tree->nodes.at[c].element != element))
        c = tree->nodes.at[c].sibling;
    return c;
}

uint32_t tree_child(struct tree *tree, uint32_t node, uint32_t element, label l)
{
    uint32_t c = tree_find(tree, node, element, l);
    if (c != NODE_NONE)
        return c;
    c = tree->nodes.n;
    struct tree_node new = {
        .parent = node, .element = element, .label = l, .sibling = tree->nodes.at[node].child};
    vec_push(&tree->nodes, new);
    tree->nodes.at[node].child = c;
    tree->edges++;
    return c;
}
