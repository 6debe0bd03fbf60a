package dev.warmpath.tokenizer.body;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;

/**
 * Whether a request makes vLLM announce again what it holds of the prompt ({@code vllm_xargs:
 * {"kv_cache_report_mode": "full"}}), and how to make it do so.
 *
 * <p>Immutable.
 */
public enum ReportParameter {
  /** The request has no extra parameters: this one may be added. */
  FREE,
  /** It has extra parameters of its own: they are left as they are. */
  TAKEN,
  /** It asks for a full report. */
  ASKED;

  private static final String PARAMETERS = "vllm_xargs";
  private static final String MODE = "kv_cache_report_mode";
  private static final byte[] ADDED =
      ("\"" + PARAMETERS + "\":{\"" + MODE + "\":\"full\"},").getBytes(StandardCharsets.US_ASCII);

  /** In a body that was read. */
  public static ReportParameter of(ObjectNode body) {
    JsonNode parameters = body.get(PARAMETERS);
    if (parameters == null) {
      return FREE;
    }
    return parameters.has(MODE) ? ASKED : TAKEN;
  }

  /** The body of a {@link #FREE} request that asks; the rest of its bytes stays as it is. */
  public static byte[] addedTo(byte[] body) {
    int at = 0;
    while (body[at] != '{') {
      at++;
    }
    byte[] asking = new byte[body.length + ADDED.length];
    System.arraycopy(body, 0, asking, 0, at + 1);
    System.arraycopy(ADDED, 0, asking, at + 1, ADDED.length);
    System.arraycopy(body, at + 1, asking, at + 1 + ADDED.length, body.length - at - 1);
    return asking;
  }
}
