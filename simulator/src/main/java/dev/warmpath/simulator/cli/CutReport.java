package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.encode.CutCheck;

/** What came out of trying a tokenizer's cuts, as one JSON object. */
final class CutReport {

  private CutReport() {}

  public static ObjectNode json(String tokenizer, CutCheck.Result result) {
    return new ObjectMapper()
        .createObjectNode()
        .put("tokenizer", tokenizer)
        .put("placement", result.placement().kind().name())
        .put("reason", result.placement().reason())
        .put("texts", result.texts())
        .put("inPieces", result.inPieces())
        .put("fromMemory", result.fromMemory())
        .put("mismatches", result.mismatches());
  }
}
