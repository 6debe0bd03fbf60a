package dev.warmpath.router.fleet;

/**
 * Which part of a request a replica's engines may serve, and how their KV cache gets to others.
 *
 * <p>Immutable.
 *
 * @param connector how KV blocks leave and enter it
 * @param group replicas of different groups do not reach each other
 * @param host where others reach its connector
 * @param port of its bootstrap server, or of the connector's own socket
 * @param secondPort of connectors that have two
 * @param capsLoads whether a request may say how much of its prompt is read back from slower
 *     memory, as vLLM's {@code max_load_tokens} does; others read back what they find
 */
public record KvTransfer(
    Role role,
    Connector connector,
    String group,
    String host,
    int port,
    int secondPort,
    boolean capsLoads) {

  /** It serves whole requests, and transfers nothing. */
  public static final KvTransfer NONE =
      new KvTransfer(Role.BOTH, Connector.NONE, "", "", 0, 0, false);

  /** What a replica is for. */
  public enum Role {
    BOTH,
    /** It computes prompts for others and answers nothing. */
    PREFILL,
    /** It answers what others have computed; a prompt that is short, or cached there, itself. */
    DECODE
  }

  /** How KV blocks get from one engine to another; connectors of vLLM unless said otherwise. */
  public enum Connector {
    NONE,
    /** NixlConnector: the decode pulls. */
    NIXL,
    /** NixlConnector: the prefill pushes. */
    NIXL_PUSH,
    MOONCAKE,
    /** OffloadingConnector with its peer-to-peer tier. */
    OFFLOADING,
    /** LMCache's own prefill and decode. */
    LMCACHE,
    /** A cache that all engines read, such as MooncakeStore or LMCache's server. */
    STORE,
    /** SGLang with its bootstrap server. */
    SGLANG,
    TRTLLM;

    /** Whether prefill and decode are sent at once, and find each other. */
    public boolean isTogether() {
      return this == MOONCAKE || this == OFFLOADING || this == SGLANG;
    }
  }

  /** Whether its engines compute prompts whose answers others give. */
  public boolean prefills() {
    return role != Role.DECODE && connector != Connector.NONE;
  }

  /** Whether its engines answer what others have computed. */
  public boolean decodes() {
    return role != Role.PREFILL && connector != Connector.NONE;
  }

  /**
   * Whether its engines can serve a request alone; a decode server of SGLang computes no prompt.
   */
  public boolean servesAlone() {
    return role == Role.BOTH || (role == Role.DECODE && connector != Connector.SGLANG);
  }

  /** Whether what is computed here can be answered there. */
  public boolean reaches(KvTransfer other) {
    return prefills()
        && other.decodes()
        && connector == other.connector
        && group.equals(other.group);
  }
}
