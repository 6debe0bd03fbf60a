/**
 * Who may use the router: keys of clients and of operators, rates, certificates of its ports.
 *
 * <pre>{@code
 * client's key ─▶ ApiKeys ─▶ ClientAccount (its rates: ClientRate)  admin's key ─▶ AdminKey
 * port         ─▶ ServerTls ─▶ a certificate from PemFiles, or SelfSigned
 * }</pre>
 *
 * <p>Start with {@link ApiKeys} and {@link ServerTls}. All files are read again when they change
 * ({@code config.FileWatch}), without a restart.
 */
@NullMarked
package dev.warmpath.router.security;

import org.jspecify.annotations.NullMarked;
