/* Values: the meaning of numbers in records. They are stored, so they never change.
 *
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_VALUES_H
#define SOC_STORE_VALUES_H

/* How a message ended. */
enum soc_outcome {
    SOC_OUTCOME_PENDING,
    SOC_OUTCOME_PROCESSED,
    SOC_OUTCOME_EXPIRED,
    SOC_OUTCOME_DEAD,
    SOC_OUTCOME_DROPPED,
    SOC_OUTCOME_CANCELLED,
    SOC_OUTCOME_HANDED_OVER, /* it is durable on the host of its receiver */
    SOC_OUTCOME_COUNT,
};

/* Bits of a message record's `flags`. */
enum soc_message_flag {
    SOC_MESSAGE_REQUIRES_ACK = 1,
    SOC_MESSAGE_WANTS_REPLY = 2,    /* a request: the sender waits for the reply */
    SOC_MESSAGE_IS_REPLY = 4,       /* routed to a waiter, never to a mailbox */
    SOC_MESSAGE_IS_FORMAL = 8,      /* sent by the host on behalf of an agent: makes no contacts */
    SOC_MESSAGE_IS_LETTER = 16,     /* a dead letter made of one reader's copy of a broadcast */
    SOC_MESSAGE_IS_DATED = 32,      /* deliver_at was given as a date; the record has the date */
    SOC_MESSAGE_IS_INTAKE = 64,     /* without a receiver: the gatekeeper forwards it */
    SOC_MESSAGE_IS_BROADCAST = 128, /* a broadcast */
};

/* Bits of an introduction record's `flags`. */
enum soc_introduction_flag {
    SOC_INTRODUCTION_IS_HELD = 1,    /* the host answers for the broker */
    SOC_INTRODUCTION_IS_CONSENT = 2, /* it asks an agent for consent */
    SOC_INTRODUCTION_IS_ITEM = 4,    /* `question` is the key of an inbox item */
};

#endif
