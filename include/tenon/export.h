/* export.h - which names leave the library, and the attributes that declarations carry. */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && !defined(TENON_STATIC)
#ifdef TENON_BUILDING
#define TN_API __declspec(dllexport)
#else
#define TN_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define TN_API __attribute__((visibility("default")))
#else
#define TN_API
#endif

#if defined(__GNUC__)
#define TN_NODISCARD __attribute__((warn_unused_result))
#else
#define TN_NODISCARD
#endif

#ifdef __cplusplus
#define TN_BEGIN extern "C" {
#define TN_END   }
#else
#define TN_BEGIN
#define TN_END
#endif

#endif
