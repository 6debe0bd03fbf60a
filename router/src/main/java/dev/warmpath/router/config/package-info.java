/**
 * The router's configuration: the keys that there are, and how they are read.
 *
 * <pre>
 * file ── YamlReader ──▶ ConfigNode ──▶ ConfigTree ── ConfigReader ──▶ RouterConfig ──▶ its records,
 *                        (file:line)        ▲                                           each to its user
 *                        flags, EnvironmentKeys
 * </pre>
 *
 * Start at {@link dev.warmpath.router.config.RouterConfig}: each component of its records is a key,
 * declared there by {@link dev.warmpath.router.config.Key} and nowhere else. {@link
 * dev.warmpath.router.config.ConfigKey} is what the reader, the environment and the test of the
 * documentation know of one. Problems are collected, each with its line, and thrown together.
 */
@NullMarked
package dev.warmpath.router.config;

import org.jspecify.annotations.NullMarked;
