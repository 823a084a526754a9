/* Service: tells the service manager that started the process how it is doing.
 *
 * The protocol is that of sd_notify(3): datagrams to the socket that $NOTIFY_SOCKET names.
 * If $WATCHDOG_USEC asks for it, signs of life are sent from the loop at twice that rate, so
 * a loop that hangs is noticed. Nothing waits for the manager, and a manager that is gone
 * changes nothing.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_SERVICE_H
#define SOC_EMBED_SERVICE_H

#include "loop/loop.h"

struct soc_service;

/* Returns NULL if no manager listens. Close it before the loop ends. */
struct soc_service *soc_service_open(struct soc_loop *loop);

/* Tells that requests are answered from now on, and begins with signs of life. NULL is
 * allowed here and below. */
void soc_service_ready(struct soc_service *service);

/* Tells that the process is about to end. */
void soc_service_stopping(struct soc_service *service);

/* Ends the signs of life. */
void soc_service_close(struct soc_service *service);

#endif
