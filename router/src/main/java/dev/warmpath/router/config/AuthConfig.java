package dev.warmpath.router.config;

import dev.warmpath.router.config.read.Key;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the router.
 *
 * <p>Immutable.
 */
public record AuthConfig(
    @Key(
            " | | Hashes of clients' API keys ([security](security.md#api-keys)); none: open to everybody.")
        @Nullable String keysFile) {}
