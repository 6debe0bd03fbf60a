package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks of this engine besides its answer.
 *
 * @param key by which both engines name what is handed over
 * @param from where it fetches; empty for a prefill
 * @param engineId whose blocks a decode wants; empty if any will do
 * @param remoteTokens how many a decode is told that there are; 0 if it is not told
 * @param cachedTokens what a decode reports as the prompt's cached tokens; -1 for what it knows
 */
record TransferLeg(
    Kind kind, String key, String from, String engineId, int remoteTokens, int cachedTokens) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** What it does beside its answer. */
  public enum Kind {
    /** It computes a prompt for another engine. */
    PREFILL,
    /** It answers what another engine computes for it. */
    DECODE,
    /** It takes what another engine's host memory happens to hold. */
    PULL
  }

  private static TransferLeg prefill(String key) {
    return new TransferLeg(Kind.PREFILL, key, "", "", 0, -1);
  }

  private static TransferLeg decode(String key, String from, String engineId) {
    return new TransferLeg(Kind.DECODE, key, from, engineId, 0, -1);
  }

  /** Whether it computes the prompt for another engine. */
  public boolean isPrefill() {
    return kind == Kind.PREFILL;
  }

  /**
   * Reads a body.
   *
   * @param requestId names a prefill that the body does not name
   * @return null if the engine is to serve the request alone
   * @throws IllegalArgumentException if the engine refuses such a request
   */
  static @Nullable TransferLeg read(JsonNode body, KvTransferOptions options, String requestId) {
    JsonNode params = body.path("kv_transfer_params");
    return switch (options.connector()) {
      case NONE -> null;
      case NIXL, NIXL_PUSH -> nixl(params, requestId);
      case MOONCAKE -> mooncake(params);
      case OFFLOADING -> offloading(params);
      case SGLANG -> sglang(body, options.role());
      case TRTLLM -> trtllm(body.path("disaggregated_params"), requestId);
    };
  }

  /** The prompt as token ids, where a request of another form carries it; else missing. */
  static JsonNode promptIds(JsonNode body, KvConnector connector) {
    return connector == KvConnector.TRTLLM
        ? body.path("prompt_token_ids")
        : body.path("kv_transfer_params").path("prompt_token_ids");
  }

  private static @Nullable TransferLeg nixl(JsonNode params, String requestId) {
    if (params.path("do_remote_decode").asBoolean()) {
      return prefill(requestId);
    }
    boolean isTold =
        params.path("do_remote_prefill").asBoolean()
            && params.hasNonNull("remote_request_id")
            && params.hasNonNull("remote_engine_id")
            && params.hasNonNull("remote_host")
            && params.path("remote_port").isInt()
            && params.path("remote_block_ids").size() > 0;
    if (!isTold) {
      return null;
    }
    JsonNode cached = params.path("remote_prefill_cached_tokens");
    return new TransferLeg(
        Kind.DECODE,
        params.path("remote_request_id").asText(),
        url(params.path("remote_host").asText(), params.path("remote_port").asInt()),
        params.path("remote_engine_id").asText(),
        params.path("remote_num_tokens").asInt(),
        cached.isInt() ? cached.asInt() : -1);
  }

  private static @Nullable TransferLeg mooncake(JsonNode params) {
    String id = params.path("transfer_id").asText("");
    if (id.isEmpty()) {
      return null;
    }
    if (params.path("do_remote_decode").asBoolean()) {
      return prefill(id);
    }
    String from = params.path("remote_bootstrap_addr").asText("");
    String engineId = params.path("remote_engine_id").asText("");
    boolean isTold = params.path("do_remote_prefill").asBoolean() && !from.isEmpty();
    return isTold && !engineId.isEmpty() ? decode(id, from, engineId) : null;
  }

  private static @Nullable TransferLeg offloading(JsonNode params) {
    JsonNode decoder = params.path("remote_decoder");
    if (decoder.hasNonNull("kv_request_id")) {
      return prefill(decoder.path("kv_request_id").asText());
    }
    TransferLeg decode = offloading(params.path("remote_prefiller"), Kind.DECODE);
    return decode == null ? offloading(params.path("remote_kv_source"), Kind.PULL) : decode;
  }

  private static @Nullable TransferLeg offloading(JsonNode other, Kind kind) {
    String key = other.path("kv_request_id").asText("");
    String from = url(other.path("remote_host").asText(), other.path("remote_port").asInt());
    return key.isEmpty() ? null : new TransferLeg(kind, key, from, "", 0, -1);
  }

  private static @Nullable TransferLeg sglang(JsonNode body, Role role) {
    if (role == Role.BOTH) {
      return null;
    }
    JsonNode room = body.path("bootstrap_room");
    if (!room.isIntegralNumber()) {
      throw new IllegalArgumentException(
          "Disaggregated request received without bootstrap room id.");
    }
    String host = body.path("bootstrap_host").asText("");
    return role == Role.PREFILL
        ? prefill(room.asText())
        : decode(room.asText(), url(host, body.path("bootstrap_port").asInt(8998)), "");
  }

  private static @Nullable TransferLeg trtllm(JsonNode params, String requestId) {
    return switch (params.path("request_type").asText("")) {
      case "context_only" -> prefill(requestId);
      case "generation_only" -> {
        JsonNode state = opened(params.path("encoded_opaque_state").asText(""));
        yield decode(
            state.path("id").asText(), state.path("from").asText(), state.path("engine").asText());
      }
      default -> null;
    };
  }

  /** Where a decode of TensorRT-LLM fetches, in the form that only engines read. */
  static String opaque(String id, String from, String engineId) {
    byte[] state =
        JSON.createObjectNode()
            .put("id", id)
            .put("from", from)
            .put("engine", engineId)
            .toString()
            .getBytes(StandardCharsets.UTF_8);
    return Base64.getEncoder().encodeToString(state);
  }

  private static JsonNode opened(String opaque) {
    try {
      return JSON.readTree(Base64.getDecoder().decode(opaque));
    } catch (IOException e) {
      throw new IllegalArgumentException("encoded_opaque_state is not this engine's", e);
    }
  }

  static String url(String host, int port) {
    return "http://" + host + ":" + port;
  }
}
