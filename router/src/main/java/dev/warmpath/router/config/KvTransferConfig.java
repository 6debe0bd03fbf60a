package dev.warmpath.router.config;

import dev.warmpath.router.fleet.KvTransfer;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * What a replica is for, and how its KV cache gets to others.
 *
 * <p>Immutable.
 */
public record KvTransferConfig(
    @Key(defaultValue = "both") KvTransfer.Role role,
    @Key(defaultValue = "none") KvTransfer.Connector kvConnector,
    @Key(advanced = true) @Nullable String kvGroup,
    @Key(advanced = true) @Nullable String kvHost,
    @Key(defaultValue = "8998", min = 1, max = 65_535, advanced = true) int kvPort,
    @Key(defaultValue = "7400", min = 1, max = 65_535, advanced = true) int kvAllocPort) {

  public KvTransferConfig {
    if (role != KvTransfer.Role.BOTH && kvConnector == KvTransfer.Connector.NONE) {
      throw new IllegalArgumentException("'role' needs a 'kv-connector'");
    }
  }

  /**
   * What routing sees of it.
   *
   * <p>NixlConnector takes what it does not know in a request for its own, so those that have one
   * are told nothing else.
   *
   * @param url of the replica, whose host is the connector's unless it is given
   * @param isVllm whether its engines are vLLM
   */
  public KvTransfer kvTransfer(URI url, boolean isVllm) {
    boolean isOffloading = kvConnector == KvTransfer.Connector.OFFLOADING;
    return new KvTransfer(
        role,
        kvConnector,
        kvGroup == null ? "" : kvGroup,
        kvHost == null ? url.getHost() : kvHost,
        kvPort,
        kvAllocPort,
        isVllm && (isOffloading || kvConnector == KvTransfer.Connector.NONE));
  }
}
