package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.fleet.KvTransfer.Connector;
import dev.warmpath.router.prompt.RequestFields;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KvProtocolTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Handoff HANDOFF =
      new Handoff(
          "wp-1",
          1_000_003,
          false,
          false,
          new Handoff.End("p", 8998, 0, 1, 4, "engine-p"),
          new Handoff.End("d", 7300, 7400, 0, 1, ""));

  private static RequestFields fields(String body) {
    return Objects.requireNonNull(RequestFields.of(body.getBytes(UTF_8)));
  }

  private static KvProtocol of(Connector connector) {
    return Objects.requireNonNull(KvProtocol.of(connector));
  }

  private static JsonNode prefill(Connector connector, String body) throws IOException {
    return JSON.readTree(of(connector).prefill(fields(body), HANDOFF));
  }

  private static JsonNode decode(Connector connector, String body, String answer)
      throws IOException {
    JsonNode told = answer == null ? null : JSON.readTree(answer);
    byte[] decoded = of(connector).decode(fields(body), HANDOFF, told);
    return decoded == null ? null : JSON.readTree(decoded);
  }

  @ParameterizedTest
  @EnumSource(
      value = Connector.class,
      names = {"NONE", "SGLANG", "TRTLLM"},
      mode = EnumSource.Mode.EXCLUDE)
  void aPrefillOfVllmIsForOneTokenInOnePiece(Connector connector) throws IOException {
    JsonNode chat =
        prefill(
            connector,
            "{\"model\":\"m\",\"messages\":[],\"stream\":true,\"stream_options\":{},"
                + "\"max_completion_tokens\":90,\"min_tokens\":5,\"n\":1}");
    assertThat(chat.path("stream").asBoolean(true)).isFalse();
    assertThat(chat.path("max_completion_tokens").asInt()).isEqualTo(1);
    assertThat(chat.has("max_tokens")).isFalse();
    assertThat(chat.has("min_tokens")).isFalse();
    assertThat(chat.has("stream_options")).isFalse();
    assertThat(chat.path("model").asText()).isEqualTo("m");

    JsonNode both = prefill(connector, "{\"max_tokens\":9,\"max_completion_tokens\":90}");
    assertThat(both.path("max_tokens").asInt()).isEqualTo(1);
    assertThat(both.path("max_completion_tokens").asInt()).isEqualTo(1);
    assertThat(prefill(connector, "{\"prompt\":\"p\"}").path("max_tokens").asInt()).isEqualTo(1);
    assertThat(prefill(connector, "{\"messages\":[],\"input\":\"x\"}").path("max_tokens").asInt())
        .isEqualTo(1);
    Handoff ofResponse =
        new Handoff(HANDOFF.id(), HANDOFF.room(), true, false, HANDOFF.prefill(), HANDOFF.decode());
    JsonNode response =
        JSON.readTree(of(connector).prefill(fields("{\"input\":\"p\"}"), ofResponse));
    assertThat(response.path("max_output_tokens").asInt()).isEqualTo(1);
    assertThat(response.path("store").asBoolean(true)).isFalse();
    assertThat(response.has("max_tokens")).isFalse();
  }

  @ParameterizedTest
  @EnumSource(value = Connector.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void whatAClientSaysOfTransfersIsNeverPassedOn(Connector connector) throws IOException {
    String body =
        "{\"prompt\":\"p\",\"kv_transfer_params\":{\"remote_host\":\"evil\"},"
            + "\"bootstrap_host\":\"evil\",\"bootstrap_room\":5,\"disaggregated_params\":\"evil\"}";
    String answer =
        "{\"kv_transfer_params\":{\"a\":1},\"prompt_token_ids\":[1],"
            + "\"choices\":[{\"finish_reason\":\"length\",\"disaggregated_params\":{\"x\":1}}]}";
    assertThat(prefill(connector, body).toString()).doesNotContain("evil");
    assertThat(decode(connector, body, answer).toString()).doesNotContain("evil");
    byte[] bytes = body.getBytes(UTF_8);
    assertThat(new String(KvProtocol.alone(bytes, fields(body)), UTF_8))
        .isEqualTo("{\"prompt\":\"p\"}");
  }

  @Test
  void aBodyWithNothingToLeaveOutIsPassedOnItself() {
    byte[] body = "{ \"prompt\" : \"p\" }".getBytes(UTF_8);
    assertThat(KvProtocol.alone(body, RequestFields.of(body))).isSameAs(body);
    assertThat(KvProtocol.alone(body, null)).isSameAs(body);
  }

  @Test
  void nixlHandsThePrefillsParametersOn() throws IOException {
    JsonNode prefill = prefill(Connector.NIXL, "{\"prompt\":\"p\"}");
    assertThat(prefill.path("kv_transfer_params").toString())
        .isEqualTo(
            "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null,"
                + "\"remote_block_ids\":null,\"remote_host\":null,\"remote_port\":null}");
    String params = "{\"do_remote_prefill\":true,\"remote_block_ids\":[[3,4]],\"later\":null}";
    JsonNode decode =
        decode(
            Connector.NIXL,
            "{\"prompt\":\"p\",\"stream\":true,\"max_tokens\":7}",
            "{\"choices\":[],\"kv_transfer_params\":" + params + "}");
    assertThat(decode.toString())
        .isEqualTo(
            "{\"prompt\":\"p\",\"stream\":true,\"max_tokens\":7,\"kv_transfer_params\":"
                + params
                + "}");
    assertThat(decode(Connector.NIXL, "{}", "{\"kv_transfer_params\":null}")).isNull();
    assertThat(decode(Connector.NIXL, "{}", "{}")).isNull();
    assertThat(decode(Connector.NIXL, "{}", null)).isNull();
  }

  @Test
  void mooncakeMeetsByAnIdOfOurs() throws IOException {
    JsonNode prefill = prefill(Connector.MOONCAKE, "{}");
    assertThat(prefill.path("ignore_eos").asBoolean()).isTrue();
    assertThat(prefill.path("kv_transfer_params").toString())
        .isEqualTo(
            "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"transfer_id\":\"wp-1\"}");
    assertThat(decode(Connector.MOONCAKE, "{}", null).path("kv_transfer_params").toString())
        .isEqualTo(
            "{\"do_remote_decode\":false,\"do_remote_prefill\":true,\"transfer_id\":\"wp-1\","
                + "\"remote_bootstrap_addr\":\"http://p:8998\",\"remote_engine_id\":\"engine-p\"}");
  }

  @Test
  void offloadingMeetsByARequestId() throws IOException {
    assertThat(prefill(Connector.OFFLOADING, "{}").path("kv_transfer_params").toString())
        .isEqualTo("{\"remote_decoder\":{\"kv_request_id\":\"wp-1\"}}");
    assertThat(decode(Connector.OFFLOADING, "{}", null).path("kv_transfer_params").toString())
        .isEqualTo(
            "{\"remote_prefiller\":{\"kv_request_id\":\"wp-1\",\"remote_host\":\"p\","
                + "\"remote_port\":8999}}"); // the listener of rank 1
  }

  @Test
  void anEngineIsToldWhoseMemoryToPullFromAndNoneThatAClientNames() throws IOException {
    String body =
        "{\"prompt\":\"p\",\"kv_transfer_params\":{\"remote_kv_source\":"
            + "{\"kv_request_id\":\"x\",\"remote_host\":\"evil\",\"remote_port\":1}}}";
    Handoff.End from = new Handoff.End("p", 5710, 0, 2, 4, "");
    assertThat(new String(KvProtocol.pulling(fields(body), "wp-7", from), UTF_8))
        .isEqualTo(
            "{\"prompt\":\"p\",\"kv_transfer_params\":{\"remote_kv_source\":"
                + "{\"kv_request_id\":\"wp-7\",\"remote_host\":\"p\",\"remote_port\":5712}}}");
    assertThat(new String(KvProtocol.alone(body.getBytes(UTF_8), fields(body)), UTF_8))
        .isEqualTo("{\"prompt\":\"p\"}");
  }

  @Test
  void lmcachePushesToTheDecode() throws IOException {
    assertThat(prefill(Connector.LMCACHE, "{}").path("kv_transfer_params").toString())
        .isEqualTo(
            "{\"disagg_spec\":{\"req_id\":\"wp-1\",\"receiver_host\":\"d\","
                + "\"receiver_init_port\":7300,\"receiver_alloc_port\":7400}}");
    assertThat(decode(Connector.LMCACHE, "{\"prompt\":\"p\"}", "{}").toString())
        .isEqualTo("{\"prompt\":\"p\"}");
  }

  @Test
  void sglangGetsTheSameBodyTwiceAndARoomOfThePrefillsRank() throws IOException {
    String body = "{\"prompt\":\"p\",\"stream\":true,\"temperature\":0.7,\"max_tokens\":50}";
    JsonNode prefill = prefill(Connector.SGLANG, body);
    JsonNode decode = decode(Connector.SGLANG, body, null);
    assertThat(prefill.path("bootstrap_host").asText()).isEqualTo("p");
    assertThat(prefill.path("bootstrap_port").asInt()).isEqualTo(8998);
    assertThat(prefill.path("bootstrap_room").asLong() % 4).isEqualTo(1);
    assertThat(prefill.path("max_tokens").asInt()).isEqualTo(50);
    assertThat(decode.path("disagg_prefill_dp_rank").asInt()).isEqualTo(1);
    ((ObjectNode) decode).remove("disagg_prefill_dp_rank");
    assertThat(decode).isEqualTo(prefill);
  }

  @Test
  void theHighestRoomStaysInItsBounds() throws IOException {
    Handoff.End end = new Handoff.End("p", 1, 0, 3, 5, "");
    Handoff last = new Handoff("x", Long.MAX_VALUE, false, false, end, end);
    long room =
        JSON.readTree(of(Connector.SGLANG).prefill(fields("{}"), last))
            .path("bootstrap_room")
            .asLong();
    assertThat(room).isNotNegative();
    assertThat(room % 5).isEqualTo(3);
  }

  @Test
  void trtllmGoesOnWithTheContextsState() throws IOException {
    JsonNode prefill =
        prefill(Connector.TRTLLM, "{\"prompt\":\"p\",\"stream\":true,\"max_tokens\":9}");
    assertThat(prefill.path("max_tokens").asInt()).isEqualTo(9);
    assertThat(prefill.path("stream").asBoolean(true)).isFalse();
    assertThat(prefill.path("disaggregated_params").path("request_type").asText())
        .isEqualTo("context_only");
    String answer =
        "{\"prompt_token_ids\":[1,2],\"choices\":[{\"finish_reason\":\"length\","
            + "\"disaggregated_params\":{\"request_type\":\"context_only\",\"ctx_request_id\":7}}]}";
    JsonNode decode = decode(Connector.TRTLLM, "{\"prompt\":\"p\"}", answer);
    assertThat(decode.toString())
        .isEqualTo(
            "{\"prompt\":[1,2],\"disaggregated_params\":"
                + "{\"request_type\":\"generation_only\",\"ctx_request_id\":7}}");
    assertThat(decode(Connector.TRTLLM, "{\"messages\":[]}", answer).path("prompt_token_ids"))
        .hasSize(2);
    assertThat(decode(Connector.TRTLLM, "{}", answer.replace("length", "stop"))).isNull();
  }
}
