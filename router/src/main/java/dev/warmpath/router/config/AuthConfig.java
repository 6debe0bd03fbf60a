package dev.warmpath.router.config;

import dev.warmpath.router.config.read.Key;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the router.
 *
 * <p>Immutable.
 */
public record AuthConfig(@Key @Nullable String keysFile) {}
