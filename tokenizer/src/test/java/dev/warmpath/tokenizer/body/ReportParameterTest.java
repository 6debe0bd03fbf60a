package dev.warmpath.tokenizer.body;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

final class ReportParameterTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void isFoundWhereTheEngineLooks() throws Exception {
    assertThat(of("{'prompt':'a'}")).isEqualTo(ReportParameter.FREE);
    assertThat(of("{'prompt':'a','vllm_xargs':{'x':1}}")).isEqualTo(ReportParameter.TAKEN);
    assertThat(of("{'prompt':'a','vllm_xargs':null}")).isEqualTo(ReportParameter.TAKEN);
    assertThat(of("{'prompt':'kv_cache_report_mode'}")).isEqualTo(ReportParameter.FREE);
    assertThat(of("{'vllm_xargs':{'kv_cache_report_mode':'full'}}"))
        .isEqualTo(ReportParameter.ASKED);
    assertThat(of("{'vllm_xargs':{'kv_cache_\\u0072eport_mode':'full'}}"))
        .isEqualTo(ReportParameter.ASKED);
  }

  @Test
  void isAddedAndTheRestStays() throws Exception {
    byte[] body = bytes(" \n{ 'prompt' : 'a{é', 'n':1}");
    byte[] asking = ReportParameter.addedTo(body);

    assertThat(ReportParameter.of((ObjectNode) JSON.readTree(asking)))
        .isEqualTo(ReportParameter.ASKED);
    assertThat(new String(asking, UTF_8)).endsWith(new String(body, UTF_8).substring(3));
    ObjectNode read = (ObjectNode) JSON.readTree(asking);
    assertThat(read.path("vllm_xargs").path("kv_cache_report_mode").asText()).isEqualTo("full");
    read.remove("vllm_xargs");
    assertThat(read).isEqualTo(JSON.readTree(body));
  }

  private static ReportParameter of(String body) throws Exception {
    return ReportParameter.of((ObjectNode) JSON.readTree(bytes(body)));
  }

  private static byte[] bytes(String body) {
    return body.replace('\'', '"').getBytes(UTF_8);
  }
}
