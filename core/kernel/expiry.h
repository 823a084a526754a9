/* Expiry: what becomes known of a message that outlived its time.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_EXPIRY_H
#define SOC_KERNEL_EXPIRY_H

struct soc_host;
struct soc_message;

/* Tells the sender of a message that asked for an ack that it has expired, unless it
 * asked for a reply: that ends with an error of its own. In the chain of the message. */
void soc_expiry_tell_sender(struct soc_host *host, const struct soc_message *message);

#endif
