package dev.warmpath.router.config;

import dev.warmpath.router.config.read.Key;
import dev.warmpath.router.config.read.NamesFile;
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
    @NamesFile @Key(" | | File with the engine's `--api-key`, sent with every request to it.")
        @Nullable String apiKeyFile,
    @NamesFile @Key(" | | PEM CA of the engine's certificate; none: Java's CAs.")
        @Nullable String tlsCa,
    @NamesFile @Key(" | | PEM client certificate for mTLS.") @Nullable String tlsCert,
    @NamesFile @Key(" | | PEM private key of `tls-cert`.") @Nullable String tlsKey) {

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
