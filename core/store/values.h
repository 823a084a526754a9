/* Values: what the numbers in records mean. They are stored: for ever as they are.
 *
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_VALUES_H
#define SOC_STORE_VALUES_H

/* What becomes of a message in the end. */
enum soc_outcome {
    SOC_OUTCOME_PENDING,
    SOC_OUTCOME_PROCESSED,
    SOC_OUTCOME_EXPIRED,
    SOC_OUTCOME_DEAD,
    SOC_OUTCOME_DROPPED,
    SOC_OUTCOME_CANCELLED,
};

/* Bits of a message record's `flags`. */
enum soc_message_flag {
    SOC_MESSAGE_REQUIRES_ACK = 1,
    SOC_MESSAGE_WANTS_REPLY = 2,    /* a request: somebody waits for the reply */
    SOC_MESSAGE_IS_REPLY = 4,       /* it was routed to a waiter, never to a mailbox */
    SOC_MESSAGE_IS_FORMAL = 8,      /* the host's, in an agent's name: nobody gets acquainted */
    SOC_MESSAGE_IS_LETTER = 16,     /* a reader's own of what went to all, once it was given up */
    SOC_MESSAGE_IS_INTAKE = 64,     /* to nobody in particular: the gatekeeper passes it on */
    SOC_MESSAGE_IS_BROADCAST = 128, /* to all */
};

/* Bits of an introduction record's `flags`. */
enum soc_introduction_flag {
    SOC_INTRODUCTION_IS_HELD = 1,    /* the host answers for the broker */
    SOC_INTRODUCTION_IS_CONSENT = 2, /* it asks somebody to agree */
};

#endif
