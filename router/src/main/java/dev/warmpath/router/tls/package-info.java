/** Certificates and private keys from PEM files. */
@NullMarked
package dev.warmpath.router.tls;

import org.jspecify.annotations.NullMarked;
