package dev.warmpath.router.health;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One entry of an engine's {@code /v1/models}.
 *
 * <p>Immutable.
 *
 * @param id the name that requests use
 * @param name the name that events use
 * @param parent the base model when this is an adapter, else null
 * @param entry the entry as the engine gave it; not to be changed
 */
public record ServedModel(String id, String name, @Nullable String parent, JsonNode entry) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Reads an answer; empty if it is not a list of models. */
  public static Optional<List<ServedModel>> read(String answer) {
    JsonNode data;
    try {
      data = JSON.readTree(answer).path("data");
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
    if (!data.isArray()) {
      return Optional.empty();
    }
    List<ServedModel> models = new ArrayList<>();
    for (JsonNode entry : data) {
      if (entry.path("id").isTextual()) {
        models.add(of(entry));
      }
    }
    boolean isForeign = models.isEmpty() && !data.isEmpty();
    return isForeign ? Optional.empty() : Optional.of(models);
  }

  private static ServedModel of(JsonNode entry) {
    JsonNode parent = entry.path("parent");
    String id = entry.path("id").textValue();
    return new ServedModel(id, id, parent.isTextual() ? parent.textValue() : null, entry);
  }

  /**
   * The same at an SGLang, where requests name an adapter BASE:ADAPTER. By its own name alone,
   * which is what the engine lists, they get the base model.
   */
  ServedModel behindBase() {
    if (parent == null) {
      return this;
    }
    String joined = parent + ":" + name;
    ObjectNode listed = entry.deepCopy();
    return new ServedModel(joined, name, parent, listed.put("id", joined));
  }
}
