package dev.warmpath.router.proxy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.fleet.KvTransfer.Connector;
import dev.warmpath.router.prompt.RequestFields;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a connector wants to be told in the two requests that one of a client becomes. Both are the
 * client's own but for a few fields; those that steer transfers are never the client's, who could
 * have an engine connect anywhere.
 *
 * <p>Thread-safe.
 */
public abstract sealed class KvProtocol {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Fields that steer transfers in some engine. */
  private static final Set<String> STEERING =
      Set.of(
          "kv_transfer_params",
          "ec_transfer_params",
          "bootstrap_host",
          "bootstrap_port",
          "bootstrap_room",
          "disaggregated_params",
          "disagg_prefill_dp_rank",
          "routed_dp_rank",
          "data_parallel_rank",
          "ctx_usage");

  /** An engine refuses them with one token, or answers in a form of its own. */
  private static final Set<String> NOT_FOR_ONE_TOKEN =
      with(STEERING, "stream_options", "min_tokens", "n", "best_of", "use_beam_search");

  private KvProtocol() {}

  /** That of a connector; null for none, with which nothing is transferred. */
  public static @Nullable KvProtocol of(Connector connector) {
    return switch (connector) {
      case NONE -> null;
      case NIXL, NIXL_PUSH -> new Nixl();
      case MOONCAKE -> new Mooncake();
      case OFFLOADING -> new Offloading();
      case LMCACHE -> new Lmcache();
      case STORE -> new Store();
      case SGLANG -> new Sglang();
      case TRTLLM -> new Trtllm();
    };
  }

  /** The body of the prefill. */
  public abstract byte[] prefill(RequestFields fields, Handoff handoff);

  /**
   * The body of the decode.
   *
   * @param answer of the prefill; null where both go up together
   * @return null if the answer hands over nothing, so that the decode's engine must compute all
   */
  public abstract byte @Nullable [] decode(
      RequestFields fields, Handoff handoff, @Nullable JsonNode answer);

  /**
   * The client's request as one engine gets it that serves it alone.
   *
   * @return the body itself if there is nothing to change
   */
  public static byte[] alone(byte[] body, @Nullable RequestFields fields) {
    return fields == null || !isSteered(fields) ? body : fields.edited(STEERING, Map.of());
  }

  /** The same, which must read nothing back from slower memory. */
  public static byte[] capped(RequestFields fields) {
    return fields.edited(STEERING, Map.of("kv_transfer_params", "{\"max_load_tokens\":0}"));
  }

  /**
   * The same, which gets from another engine's memory what it does not hold.
   *
   * @param id names the request to both; never used again
   */
  public static byte[] pulling(RequestFields fields, String id, Handoff.End from) {
    ObjectNode params = JSON.createObjectNode();
    Offloading.listener(params.putObject("remote_kv_source"), id, from);
    return fields.edited(STEERING, Map.of("kv_transfer_params", json(params)));
  }

  /** Whether the client steers transfers itself. */
  public static boolean isSteered(RequestFields fields) {
    return STEERING.stream().anyMatch(fields::has);
  }

  /** vLLM's NixlConnector, by pull or by push: the prefill's answer says where its blocks are. */
  private static final class Nixl extends KvProtocol {
    private static final String PREFILL =
        "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null,"
            + "\"remote_block_ids\":null,\"remote_host\":null,\"remote_port\":null}";

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      return oneToken(fields, handoff, Map.of("kv_transfer_params", PREFILL));
    }

    @Override
    public byte @Nullable [] decode(
        RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      JsonNode params = answer == null ? null : answer.get("kv_transfer_params");
      return params == null || !params.isObject() || params.isEmpty()
          ? null
          : fields.edited(STEERING, Map.of("kv_transfer_params", json(params)));
    }
  }

  /** vLLM's MooncakeConnector. It hands over only after an answer of full length. */
  private static final class Mooncake extends KvProtocol {

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      ObjectNode params = params(true).put("transfer_id", handoff.id());
      return oneToken(
          fields, handoff, Map.of("kv_transfer_params", json(params), "ignore_eos", "true"));
    }

    @Override
    public byte[] decode(RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      Handoff.End from = handoff.prefill();
      ObjectNode params =
          params(false)
              .put("transfer_id", handoff.id())
              .put("remote_bootstrap_addr", "http://" + from.host() + ":" + from.port())
              .put("remote_engine_id", from.engineId());
      return fields.edited(STEERING, Map.of("kv_transfer_params", json(params)));
    }

    private static ObjectNode params(boolean isPrefill) {
      return JSON.createObjectNode()
          .put("do_remote_decode", isPrefill)
          .put("do_remote_prefill", !isPrefill);
    }
  }

  /** vLLM's OffloadingConnector with its peer-to-peer tier. */
  private static final class Offloading extends KvProtocol {

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      ObjectNode params = JSON.createObjectNode();
      params.putObject("remote_decoder").put("kv_request_id", handoff.id());
      if (handoff.capsLoads()) {
        params.put("max_load_tokens", 0);
      }
      return oneToken(fields, handoff, Map.of("kv_transfer_params", json(params)));
    }

    @Override
    public byte[] decode(RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      ObjectNode params = JSON.createObjectNode();
      listener(params.putObject("remote_prefiller"), handoff.id(), handoff.prefill());
      return fields.edited(STEERING, Map.of("kv_transfer_params", json(params)));
    }

    /** Each rank listens at a port of its own. */
    private static void listener(ObjectNode at, String id, Handoff.End from) {
      at.put("kv_request_id", id)
          .put("remote_host", from.host())
          .put("remote_port", from.port() + from.rank());
    }
  }

  /** LMCache as a connector for prefill and decode: the prefill pushes to the decode's sockets. */
  private static final class Lmcache extends KvProtocol {

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      Handoff.End to = handoff.decode();
      ObjectNode params = JSON.createObjectNode();
      params
          .putObject("disagg_spec")
          .put("req_id", handoff.id())
          .put("receiver_host", to.host())
          .put("receiver_init_port", to.port())
          .put("receiver_alloc_port", to.secondPort());
      return oneToken(fields, handoff, Map.of("kv_transfer_params", json(params)));
    }

    @Override
    public byte[] decode(RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      return fields.edited(STEERING, Map.of());
    }
  }

  /** A cache that both engines read: what the prefill puts there is found by its hash. */
  private static final class Store extends KvProtocol {

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      return oneToken(fields, handoff, Map.of());
    }

    @Override
    public byte[] decode(RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      return fields.edited(STEERING, Map.of());
    }
  }

  /** SGLang: the same body to both, which meet in a room. The first token is the prefill's. */
  private static final class Sglang extends KvProtocol {

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      return fields.edited(STEERING, meeting(handoff));
    }

    @Override
    public byte[] decode(RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      Map<String, String> with = meeting(handoff);
      if (handoff.prefill().ranks() > 1) {
        with.put("disagg_prefill_dp_rank", Integer.toString(handoff.prefill().rank()));
      }
      return fields.edited(STEERING, with);
    }

    private static Map<String, String> meeting(Handoff handoff) {
      Handoff.End prefill = handoff.prefill();
      Map<String, String> with = new LinkedHashMap<>();
      with.put("bootstrap_host", json(JSON.getNodeFactory().textNode(prefill.host())));
      with.put("bootstrap_port", Integer.toString(prefill.port()));
      with.put("bootstrap_room", Long.toString(room(handoff)));
      return with;
    }

    /** By itself an engine takes the rank that is the room's remainder. */
    private static long room(Handoff handoff) {
      int ranks = handoff.prefill().ranks();
      long room = handoff.room() - handoff.room() % ranks;
      return room > Long.MAX_VALUE - ranks
          ? handoff.prefill().rank()
          : room + handoff.prefill().rank();
    }
  }

  /** TensorRT-LLM, as {@code trtllm-serve disaggregated} speaks to its workers. */
  private static final class Trtllm extends KvProtocol {
    private static final String PARAMS = "disaggregated_params";
    private static final String TYPE = "request_type";
    private static final Set<String> GOES_ON = Set.of("length", "not_finished");

    @Override
    public byte[] prefill(RequestFields fields, Handoff handoff) {
      ObjectNode params =
          JSON.createObjectNode()
              .put(TYPE, "context_only")
              .put("disagg_request_id", handoff.room());
      return fields.edited(
          with(STEERING, "stream_options"), Map.of("stream", "false", PARAMS, json(params)));
    }

    @Override
    public byte @Nullable [] decode(
        RequestFields fields, Handoff handoff, @Nullable JsonNode answer) {
      if (answer == null) {
        return null;
      }
      JsonNode choice = answer.path("choices").path(0);
      JsonNode ids = answer.path("prompt_token_ids");
      boolean handsOver =
          choice.path(PARAMS) instanceof ObjectNode
              && ids.isArray()
              && GOES_ON.contains(choice.path("finish_reason").asText());
      if (!handsOver) {
        return null;
      }
      ObjectNode params = choice.path(PARAMS).deepCopy();
      params.put(TYPE, "generation_only");
      Map<String, String> with = new LinkedHashMap<>();
      with.put(fields.has("prompt") ? "prompt" : "prompt_token_ids", json(ids));
      with.put(PARAMS, json(params));
      return fields.edited(STEERING, with);
    }
  }

  private static String json(JsonNode value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The client's request for one token, in one piece. */
  private static byte[] oneToken(RequestFields fields, Handoff handoff, Map<String, String> more) {
    Map<String, String> with = new LinkedHashMap<>();
    with.put("stream", "false");
    boolean hasNewName = fields.has("max_completion_tokens");
    if (handoff.isResponse()) {
      with.put("max_output_tokens", "1");
      with.put("store", "false");
    } else if (hasNewName) {
      with.put("max_completion_tokens", "1");
    }
    if (!handoff.isResponse() && (!hasNewName || fields.has("max_tokens"))) {
      with.put("max_tokens", "1");
    }
    with.putAll(more);
    return fields.edited(NOT_FOR_ONE_TOKEN, with);
  }

  private static Set<String> with(Set<String> names, String... more) {
    Set<String> all = new HashSet<>(names);
    all.addAll(Set.of(more));
    return Set.copyOf(all);
  }
}
