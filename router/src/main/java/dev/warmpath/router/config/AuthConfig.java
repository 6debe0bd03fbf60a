package dev.warmpath.router.config;

import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the router.
 *
 * <p>Immutable.
 */
public record AuthConfig(
    @Key(
            " | | File with the hashes of the clients' API keys ([security](security.md#api-keys)), read again when it changes; none: everybody may send requests.")
        @Nullable String keysFile,
    @AdvancedKey(
            "2000 | 10 … 86400000 | Time between two looks at the files of keys and certificates, and at that of the configuration.")
        int pollMs) {}
