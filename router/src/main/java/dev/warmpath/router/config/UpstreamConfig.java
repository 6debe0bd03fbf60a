package dev.warmpath.router.config;

import dev.warmpath.router.config.read.Key;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the router shows and believes when it connects to a replica.
 *
 * <p>Immutable.
 */
public record UpstreamConfig(
    @Key(
            " | | File with the key that the replica's engine asks for (`--api-key`); sent as `Authorization: Bearer` with every request there. Of a replica, else of `upstream`.")
        @Nullable String apiKeyFile,
    @Key(
            " | | PEM file with the CA of the replica's certificate; none: the CAs of the Java runtime. Of a replica, else of `upstream`.")
        @Nullable String tlsCa,
    @Key(
            " | | PEM file with the router's own certificate for the replica, for mTLS. Of a replica, else of `upstream`.")
        @Nullable String tlsCert,
    @Key(" | | PEM file with the private key of `tls-cert`.") @Nullable String tlsKey) {

  public UpstreamConfig {
    if ((tlsCert == null) != (tlsKey == null)) {
      throw new IllegalArgumentException("'tls-cert' and 'tls-key' need each other");
    }
  }

  /** Whether it says anything about TLS. */
  public boolean hasTls() {
    return tlsCa != null || tlsCert != null;
  }

  /** This, with {@code standard} where it says nothing. */
  public UpstreamConfig or(UpstreamConfig standard) {
    boolean own = tlsCert != null;
    return new UpstreamConfig(
        apiKeyFile == null ? standard.apiKeyFile : apiKeyFile,
        tlsCa == null ? standard.tlsCa : tlsCa,
        own ? tlsCert : standard.tlsCert,
        own ? tlsKey : standard.tlsKey);
  }

  /** The same without what only TLS needs. */
  public UpstreamConfig withoutTls() {
    return new UpstreamConfig(apiKeyFile, null, null, null);
  }

  /** The files that it names. */
  public List<Path> files() {
    return Stream.of(apiKeyFile, tlsCa, tlsCert, tlsKey)
        .filter(file -> file != null)
        .map(Path::of)
        .toList();
  }
}
