#include "parts/hosts/hosts_notify.h"

#include "kernel/mail/notice.h"
#include "kernel/registry.h"
#include "parts/hosts/hosts_state.h"

struct soc_slice soc_hosts_system_at(struct soc_slice name, struct soc_buf *out)
{
    soc_buf_put_text(out, "system@");
    soc_buf_put_slice(out, name);
    return soc_buf_slice(out);
}

struct soc_send soc_hosts_order_of(struct soc_slice to, const char *type, struct soc_slice payload)
{
    return (struct soc_send){
        .to = to,
        .type = soc_slice_text(type),
        .payload = payload,
        .is_formal = true,
        .is_report = true,
        .is_bare = true,
    };
}

void soc_hosts_notify(struct soc_host *host, struct soc_slice name, const char *type,
                      struct soc_slice payload)
{
    struct soc_buf to = {0};
    struct soc_send send = soc_hosts_order_of(soc_hosts_system_at(name, &to), type, payload);
    soc_notice_send(host, NULL, &send, "order_failed");
    soc_buf_fini(&to);
}

bool soc_hosts_can_notify(struct soc_host *host, struct soc_slice name, uint32_t most)
{
    struct soc_buf address = {0};
    const struct soc_hosts_peer *peer = soc_map_find(&soc_hosts_state(host)->peers, name);
    if (peer == NULL || peer->is_silent || !soc_hosts_state(host)->has_driver ||
        soc_map_find(&host->registry.peers, name) == NULL)
        return false;
    soc_buf_put_text(&address, "system@");
    soc_buf_put_slice(&address, name);
    const struct soc_agent *proxy = soc_registry_find_known(host, soc_buf_slice(&address));
    soc_buf_fini(&address);
    return proxy == NULL || soc_mailbox_count(&proxy->mailbox) <= most;
}
