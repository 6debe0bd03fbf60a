package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.reload.ConfigChange;
import dev.warmpath.router.reload.ReloadResult;
import java.util.List;

/** The answer of {@code POST /admin/reload}: what has changed, or why nothing has. */
final class ReloadReport {

  private ReloadReport() {}

  static ObjectNode of(ReloadResult result) {
    if (!result.problems().isEmpty()) {
      ObjectNode refused = AdminVerticle.errorNode("the configuration stays as it is");
      result.problems().forEach(refused.putArray("problems")::add);
      return refused;
    }
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    changes(root.putArray("applied"), result.applied());
    changes(root.putArray("needsRestart"), result.needsRestart());
    return root;
  }

  private static void changes(ArrayNode to, List<ConfigChange> changes) {
    for (ConfigChange change : changes) {
      to.addObject()
          .put("key", change.key())
          .put("before", change.before())
          .put("after", change.after());
    }
  }
}
