package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The model that an engine serves and its LoRA adapters.
 *
 * @param adapters path of each adapter by name
 * @param createdSeconds when the engine began, seconds since the epoch
 * @param joinsNames whether requests name an adapter BASE:ADAPTER, as SGLang's do
 */
public record SimulatedModel(
    String name,
    Map<String, String> adapters,
    int maxModelTokens,
    long createdSeconds,
    boolean joinsNames) {

  public SimulatedModel {
    adapters = Map.copyOf(new LinkedHashMap<>(adapters));
  }

  /** The adapter that {@code model} names; null for the base model, also when nothing is named. */
  @Nullable String adapterOf(@Nullable String model) {
    if (model == null || model.isEmpty() || model.equals(name)) {
      return null;
    }
    int colon = joinsNames ? model.indexOf(':') : -1;
    if (joinsNames && colon < 0) {
      return null; // SGLang serves its model under any name
    }
    String adapter = model.substring(colon + 1);
    if (!adapters.containsKey(adapter)) {
      throw ApiException.unknownModel(model);
    }
    return adapter;
  }

  String list() {
    ObjectNode list = JsonNodeFactory.instance.objectNode().put("object", "list");
    ArrayNode data = list.putArray("data");
    card(data, name, name, null);
    adapters.keySet().stream()
        .sorted()
        .forEach(adapter -> card(data, adapter, adapters.getOrDefault(adapter, ""), name));
    return list.toString();
  }

  private void card(ArrayNode data, String id, String root, @Nullable String parent) {
    data.addObject()
        .put("id", id)
        .put("object", "model")
        .put("created", createdSeconds)
        .put("owned_by", "warmpath")
        .put("root", root)
        .put("parent", parent)
        .put("max_model_len", maxModelTokens);
  }
}
