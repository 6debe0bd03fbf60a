package dev.warmpath.router.reload;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.read.ConfigException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the configuration as it was read at the start. Implementations are thread-safe. */
public interface ConfigLoader {

  /** Of a process whose configuration cannot be read anew. */
  ConfigLoader NONE =
      () -> {
        throw new ConfigException(List.of("this process has no configuration to read anew"));
      };

  /** Reads it, with flags and all. */
  RouterConfig load() throws ConfigException;

  /** The file in which it is; null for none. */
  default @Nullable Path file() {
    return null;
  }
}
