#include "parts/hosts/hosts_notify.h"

#include "kernel/mail/notice.h"

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
