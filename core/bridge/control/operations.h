/* Operations: requests in which a member `op` names the operation.
 *
 * This is the form of a line at the control socket. `idempotency_key` is the key of an order
 * (kernel/operations/call_keys.h). The other members are the parameters; those that the
 * operation does not have are ignored.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_CONTROL_OPERATIONS_H
#define SOC_BRIDGE_CONTROL_OPERATIONS_H

#include "kernel/operations/operation.h"

/* Carries out `request`, a JSON object, for the owner and answers `call`. */
void soc_operations_do(const struct soc_operations *society, struct soc_call *call,
                       struct soc_slice request);

#endif
