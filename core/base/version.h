/* Version: the version of this program.
 *
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_VERSION_H
#define SOC_BASE_VERSION_H

#define SOC_VERSION "0.1.0"

#endif
