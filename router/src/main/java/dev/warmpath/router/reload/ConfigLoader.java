package dev.warmpath.router.reload;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.RouterConfig;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the configuration as it was read at the start. Implementations are thread-safe. */
public interface ConfigLoader {

  /** Of a process whose configuration cannot be read anew. */
  ConfigLoader NONE =
      (running, content) -> {
        throw new ConfigException(List.of("this process has no configuration to read anew"));
      };

  /**
   * Reads it, with flags and all. A {@code reload.watch} that runs goes on unless it is switched
   * off in so many words: what is left out may only be missing for a moment.
   *
   * @param content of its file; null to read that now
   */
  RouterConfig load(RouterConfig running, byte @Nullable [] content) throws ConfigException;

  /** The file in which it is; null for none. */
  default @Nullable Path file() {
    return null;
  }
}
