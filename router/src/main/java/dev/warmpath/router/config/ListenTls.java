package dev.warmpath.router.config;

import dev.warmpath.router.config.read.Key;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The certificate of one of the router's ports.
 *
 * <p>Immutable.
 */
public record ListenTls(
    @Key @Nullable String tlsCert,
    @Key @Nullable String tlsKey,
    @Key @Nullable String tlsClientCa) {

  public ListenTls {
    if ((tlsCert == null) != (tlsKey == null)) {
      throw new IllegalArgumentException("'tls-cert' and 'tls-key' need each other");
    }
    if (tlsClientCa != null && tlsCert == null) {
      throw new IllegalArgumentException("'tls-client-ca' needs 'tls-cert'");
    }
  }

  /** The files that it names. */
  public List<Path> files() {
    return Stream.of(tlsCert, tlsKey, tlsClientCa)
        .filter(file -> file != null)
        .map(Path::of)
        .toList();
  }
}
