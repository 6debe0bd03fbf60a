package dev.warmpath.router.health;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Set;

/**
 * What an SGLang engine says in {@code /model_info} of its part in disaggregated serving.
 *
 * <p>Immutable.
 *
 * @param disaggregationMode {@code null}, {@code prefill} or {@code decode}; empty if it says none
 *     of these
 * @param bootstrapPort of a prefill's bootstrap server; 0 if it does not say
 */
public record ModelInfo(String disaggregationMode, int bootstrapPort) {

  /** It says nothing. */
  public static final ModelInfo NONE = new ModelInfo("", 0);

  private static final Set<String> MODES = Set.of("null", "prefill", "decode");

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Reads an answer; what is not understood is not there. */
  public static ModelInfo read(String answer) {
    try {
      JsonNode info = JSON.readTree(answer);
      int port = info.path("disaggregation_bootstrap_port").asInt();
      String mode = info.path("disaggregation_mode").asText();
      return new ModelInfo(MODES.contains(mode) ? mode : "", port < 1 || port > 65_535 ? 0 : port);
    } catch (JsonProcessingException e) {
      return NONE;
    }
  }
}
