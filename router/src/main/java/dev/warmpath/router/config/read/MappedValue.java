package dev.warmpath.router.config.read;

/**
 * A value that is made of the keys below its own: its class has a public static {@code of} that
 * takes a {@link ConfigNode.Mapping} (empty if the key is not given) and throws {@link
 * ConfigException}.
 */
public interface MappedValue {}
