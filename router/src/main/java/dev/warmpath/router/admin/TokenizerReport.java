package dev.warmpath.router.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.tokenize.TokenizerStatus;

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
    var models = root.putArray("models");
    admin.tokenizers().status().forEach(status -> model(models.addObject(), status));
    return root;
  }

  private static void model(ObjectNode to, TokenizerStatus status) {
    to.put("model", status.model());
    to.put("tokenizer", status.place());
    to.put("state", status.state().label());
    to.put("problem", status.problem());
    to.put("failedLoads", status.failures());
    to.put("loadMillis", status.loadMillis());
    to.put("quarantined", status.quarantined());
  }
}
