package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.tokenize.ParityWatch.ParityStatus;
import dev.warmpath.router.tokenize.TokenDifference;
import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.tokenize.TokenizerStatus.Download;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.encode.EncodeCounts;
import dev.warmpath.tokenizer.encode.EncodeCounts.LayerCounts;
import java.util.List;
import java.util.Locale;

/**
 * The answer of {@code GET /admin/tokenizers}: how the tokenizer of every configured model stands.
 *
 * <p>Confined to the asking thread.
 */
final class TokenizerReport {

  private static final ObjectMapper JSON = new ObjectMapper();

  private TokenizerReport() {}

  static ObjectNode of(AdminContext admin) {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode models = root.putArray("models");
    for (TokenizerStatus status : admin.tokenizers().status()) {
      ObjectNode entry = models.addObject();
      model(entry, status);
      ParityStatus checked = admin.parity() == null ? null : admin.parity().of(status.model());
      if (checked != null) {
        checks(entry, checked);
      }
    }
    return root;
  }

  private static void checks(ObjectNode to, ParityStatus checked) {
    ObjectNode counts = to.putObject("checks");
    checked.counts().forEach((result, count) -> counts.put(result.label(), count));
    TokenDifference last = checked.last();
    if (last == null) {
      to.putNull("lastDifference");
      return;
    }
    ObjectNode difference = to.putObject("lastDifference");
    difference.put("replica", last.replica()).put("where", last.where()).put("index", last.index());
    difference.put("tokens", last.ours()).put("engineTokens", last.engines());
    tokens(difference.putArray("around"), last.ourTokens());
    tokens(difference.putArray("engineAround"), last.engineTokens());
  }

  private static void tokens(ArrayNode to, List<TokenDifference.Token> tokens) {
    tokens.forEach(token -> to.addObject().put("id", token.id()).put("text", token.text()));
  }

  private static void model(ObjectNode to, TokenizerStatus status) {
    to.put("model", status.model());
    to.put("tokenizer", status.place());
    to.put("state", status.state().label());
    to.put("problem", status.problem());
    to.put("failedLoads", status.failures());
    to.put("waitsForFiles", status.waitsForFiles());
    to.put("loadMillis", status.loadMillis());
    to.put("quarantined", status.quarantined());
    Download download = status.download();
    if (download.totalBytes() > 0) {
      to.putObject("download")
          .put("bytes", download.bytes())
          .put("totalBytes", download.totalBytes())
          .put("retries", download.retries());
    }
    ModelTokenizer tokenizer = status.tokenizer();
    if (tokenizer != null) {
      to.putObject("cuts")
          .put("kind", tokenizer.placement().kind().name().toLowerCase(Locale.ROOT))
          .put("reason", tokenizer.placement().reason());
      memory(to.putObject("memory"), tokenizer.encodeCounts());
    }
  }

  private static void memory(ObjectNode to, EncodeCounts counts) {
    layer(to, counts.memory());
    ObjectNode layers = to.putObject("layers");
    layer(layers.putObject("prefix"), counts.prefixes());
    layer(layers.putObject("chunk"), counts.chunks());
    layer(layers.putObject("word"), counts.words());
  }

  private static void layer(ObjectNode to, LayerCounts layer) {
    to.put("bytes", layer.bytes())
        .put("maxBytes", layer.maxBytes())
        .put("evictions", layer.evictions());
  }
}
