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

  /** Where SGLang's bootstrap server is, and Mooncake's, unless told otherwise. */
  public static final int BOOTSTRAP_PORT = 8998;

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

  /**
   * What it is for where it was configured like this, and an SGLang engine describes itself in
   * {@code /model_info}: it knows better, and may be given another role while it runs. With the
   * connector of another kind it stays as it was configured.
   *
   * @param mode its {@code disaggregation_mode}; empty if it does not tell
   * @param bootstrapPort its {@code disaggregation_bootstrap_port}, used if no other was
   *     configured; 0 if it does not tell
   */
  public KvTransfer told(String mode, int bootstrapPort) {
    if (connector != Connector.NONE && connector != Connector.SGLANG) {
      return this;
    }
    int toldPort = port == BOOTSTRAP_PORT && bootstrapPort > 0 ? bootstrapPort : port;
    return switch (mode) {
      case "prefill" -> sglang(Role.PREFILL, toldPort);
      case "decode" -> sglang(Role.DECODE, toldPort);
      case "null" -> new KvTransfer(Role.BOTH, Connector.NONE, group, host, port, 0, false);
      default -> this;
    };
  }

  private KvTransfer sglang(Role told, int bootstrapPort) {
    return new KvTransfer(told, Connector.SGLANG, group, host, bootstrapPort, 0, false);
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

  /** Whether its engines can load what those of another one hold in CPU memory. */
  public boolean pullsFrom(KvTransfer other) {
    return connector == Connector.OFFLOADING
        && other.connector == Connector.OFFLOADING
        && group.equals(other.group);
  }

  /** Whether what is computed here can be answered there. */
  public boolean reaches(KvTransfer other) {
    return prefills()
        && other.decodes()
        && connector == other.connector
        && group.equals(other.group);
  }
}
