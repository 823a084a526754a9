#include "kernel/operations/tree.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "kernel/look.h"
#include "kernel/state.h"

/* Agents below one that have the same role and status. */
struct family {
    struct family *next;
    const struct soc_role *role; /* NULL if roles are counted together */
    const char *status;
    uint64_t count;
};

/* An agent that is shown. */
struct node {
    const struct soc_agent *agent;
    int64_t depth;
    struct node *parent;
    struct node *first; /* child, in order of birth */
    struct node *last;
    struct node *next; /* sibling */
    struct family *families;
    struct family *below; /* further down, without their roles */
    uint64_t more;        /* children that are left out */
};

/* A tree that is being built. */
struct tree {
    const struct soc_host *host;
    int64_t depth_max;
    bool is_whole;         /* of all agents, not of those below one */
    struct soc_map nodes;  /* agent's address -> node, owned */
    struct soc_map hidden; /* address of one that is not shown -> the nearest node above it */
    struct node *first;    /* top level */
    struct node *last;
};

static struct node *find_node(const struct tree *tree, const struct soc_agent *agent)
{
    return soc_map_find_number(&tree->nodes, (uint64_t)(uintptr_t)agent);
}

static struct node *add_node(struct tree *tree, const struct soc_agent *agent, struct node *parent)
{
    struct node *node = soc_alloc_zero(sizeof(*node));
    struct node **first = parent == NULL ? &tree->first : &parent->first;
    struct node **last = parent == NULL ? &tree->last : &parent->last;
    node->agent = agent;
    node->parent = parent;
    node->depth = parent == NULL ? 0 : parent->depth + 1;
    if (*last == NULL)
        *first = node;
    else
        (*last)->next = node;
    *last = node;
    soc_map_put_number(&tree->nodes, (uint64_t)(uintptr_t)agent, node);
    return node;
}

static void count(struct family **place, const struct soc_role *role, const char *status)
{
    while (*place != NULL && ((*place)->role != role || (*place)->status != status))
        place = &(*place)->next;
    if (*place == NULL) {
        *place = soc_alloc_zero(sizeof(**place));
        **place = (struct family){.role = role, .status = status};
    }
    (*place)->count++;
}

/* Counts an agent that has no node with the nearest one above it. */
static void hide_agent(struct tree *tree, const struct soc_agent *agent, struct node *above)
{
    const char *status = soc_look_status(tree->host, agent);
    bool is_family =
        above->agent == agent->parent && agent->parent->children > SOC_TREE_CHILDREN_MAX;
    soc_map_put_number(&tree->hidden, (uint64_t)(uintptr_t)agent, above);
    if (is_family && above->depth < tree->depth_max)
        count(&above->families, agent->role, status);
    else
        count(&above->below, NULL, status);
}

/* Parents are born before their children, so they have been seen, but for those on other hosts:
 * each stands above its children here. */
static void place_agent(struct tree *tree, const struct soc_agent *agent)
{
    if (agent->parent == NULL)
        return;
    struct node *parent = find_node(tree, agent->parent);
    if (parent == NULL && tree->is_whole && agent->parent->is_remote &&
        tree->nodes.count < SOC_TREE_ROWS_MAX)
        parent = add_node(tree, agent->parent, NULL);
    struct node *above = parent;
    if (parent == NULL)
        above = soc_map_find_number(&tree->hidden, (uint64_t)(uintptr_t)agent->parent);
    if (above == NULL)
        return;
    if (parent == NULL || parent->depth >= tree->depth_max ||
        agent->parent->children > SOC_TREE_CHILDREN_MAX) {
        hide_agent(tree, agent, above);
    } else if (tree->nodes.count < SOC_TREE_ROWS_MAX) {
        add_node(tree, agent, parent);
    } else {
        parent->more++;
        hide_agent(tree, agent, parent);
    }
}

static void put_families(const char *name, const struct family *first, struct soc_buf *out)
{
    soc_json_put_name(out, name);
    soc_buf_put_byte(out, '[');
    for (const struct family *family = first; family != NULL; family = family->next) {
        if (family != first)
            soc_buf_put_byte(out, ',');
        soc_buf_put_text(out, "{\"count\":");
        soc_json_put_integer(out, (int64_t)family->count);
        if (family->role != NULL)
            soc_json_put_text_member(out, "role", soc_slice_text(family->role->id));
        soc_json_put_text_member(out, "status", soc_slice_text(family->status));
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_byte(out, ']');
}

static void put_node(const struct soc_host *host, const struct node *node, struct soc_buf *out)
{
    const struct soc_agent *agent = node->agent;
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    soc_buf_put_text(out, "{\"children\":");
    soc_json_put_integer(out, agent->children);
    if (node->below != NULL)
        put_families("below", node->below, out);
    soc_json_put_name(out, "depth");
    soc_json_put_integer(out, node->depth);
    if (node->families != NULL)
        put_families("families", node->families, out);
    soc_json_put_text_member(out, "id", soc_agent_id(agent));
    if (node->more > 0) {
        soc_json_put_name(out, "more");
        soc_json_put_integer(out, (int64_t)node->more);
    }
    if (agent->parent != NULL)
        soc_json_put_text_member(out, "parent", soc_agent_id(agent->parent));
    soc_json_put_name(out, "queue_length");
    soc_json_put_integer(out, (int64_t)soc_look_queued(host, agent));
    soc_json_put_name(out, "role");
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", soc_slice_text(agent->role->id));
    soc_json_put_text_member(out, "name", soc_slice_text(agent->role->name));
    soc_buf_put_byte(out, '}');
    soc_json_put_text_member(out, "status", soc_slice_text(soc_look_status(host, agent)));
    soc_buf_put_byte(out, '}');
}

/* Appends the nodes, each before those below it. */
static void put_nodes(const struct tree *tree, struct soc_buf *out)
{
    const struct node *node = tree->first;
    soc_buf_put_byte(out, '[');
    while (node != NULL) {
        put_node(tree->host, node, out);
        if (node->first != NULL) {
            node = node->first;
            continue;
        }
        while (node != NULL && node->next == NULL)
            node = node->parent;
        node = node == NULL ? NULL : node->next;
    }
    soc_buf_put_byte(out, ']');
}

static void free_families(struct family *family)
{
    while (family != NULL) {
        struct family *next = family->next;
        free(family);
        family = next;
    }
}

static void free_nodes(struct tree *tree)
{
    struct node *node;
    for (size_t cursor = 0; (node = soc_map_each(&tree->nodes, &cursor)) != NULL;) {
        free_families(node->families);
        free_families(node->below);
        free(node);
    }
    soc_map_fini(&tree->nodes);
    soc_map_fini(&tree->hidden);
}

void soc_tree_put(const struct soc_host *host, const struct soc_agent *root, int64_t depth_max,
                  struct soc_buf *out)
{
    struct tree tree = {.host = host, .depth_max = depth_max, .is_whole = root == NULL};
    const struct soc_agent *agent;
    if (root != NULL)
        add_node(&tree, root, NULL);
    for (size_t cursor = 0; (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL;) {
        if (agent->is_ended || agent == root)
            continue;
        if (root == NULL && agent->parent == NULL)
            add_node(&tree, agent, NULL);
        else
            place_agent(&tree, agent);
    }
    put_nodes(&tree, out);
    free_nodes(&tree);
}
