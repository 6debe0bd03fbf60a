/**
 * The router's configuration: the keys that there are, how they are read, and files that are read
 * again when they change.
 *
 * <pre>{@code
 * file ─ YamlReader ─▶ ConfigNode ─▶ ConfigTree ─ ConfigReader ─▶ RouterConfig ─▶ its records,
 *                      (file:line)       ▲                                       each to its user
 *                      flags, EnvironmentKeys
 * }</pre>
 *
 * <p>Start with {@link RouterConfig}: each component of its records is a key, declared there by
 * {@link Key} and nowhere else. {@link ConfigKey} is what the reader, the environment and the test
 * of the documentation know of one key. Problems are collected, each with its line, and thrown
 * together as one {@link ConfigException}. {@link MemoryBudget} divides the heap among the sizes
 * that are not configured. {@link FileWatch} reads keys, certificates and the configuration again
 * when their contents change; {@link Reloader} puts another configuration in the place of the one
 * that holds: all of its reloadable keys ({@link ConfigChanges}), or none.
 */
@NullMarked
package dev.warmpath.router.config;

import org.jspecify.annotations.NullMarked;
