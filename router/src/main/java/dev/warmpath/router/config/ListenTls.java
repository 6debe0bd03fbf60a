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
    @Key(
            " | | PEM file with the port's certificate and chain, read again when it changes; none: no TLS ([security](security.md#tls)).")
        @Nullable String tlsCert,
    @Key(" | | PEM file with the private key of `tls-cert`.") @Nullable String tlsKey,
    @Key(
            " | | PEM file with the CA of clients' certificates; clients without one of them cannot connect. None: clients need none.")
        @Nullable String tlsClientCa) {

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
