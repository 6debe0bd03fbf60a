package dev.warmpath.router.health;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
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
 * @param root what the engine was started with for it, or null
 * @param maxTokens its longest prompt with its answer; 0 if it does not say
 * @param entry the entry as the engine gave it, as JSON
 */
public record ServedModel(
    String id,
    String name,
    @Nullable String parent,
    @Nullable String root,
    int maxTokens,
    String entry) {

  /** A longer list is none: what is kept of an entry may be many times its length. */
  private static final int MOST_MODELS = 10_000;

  private static final JsonFactory JSON = new JsonFactory();

  /**
   * Reads an answer, without a tree, whose size nobody could tell before; empty if it is not a list
   * of models.
   */
  public static Optional<List<ServedModel>> read(String answer) {
    List<ServedModel> models = null;
    try (JsonParser from = JSON.createParser(answer)) {
      if (from.nextToken() != JsonToken.START_OBJECT) {
        return Optional.empty();
      }
      while (from.nextToken() != JsonToken.END_OBJECT) {
        boolean isData = from.currentName().equals("data");
        if (from.nextToken() == JsonToken.START_ARRAY && isData) {
          models = models(from);
        } else {
          models = isData ? null : models;
          from.skipChildren();
        }
      }
    } catch (IOException e) {
      return Optional.empty();
    }
    return Optional.ofNullable(models);
  }

  /** Null if they are too many, or entries but no models. */
  private static @Nullable List<ServedModel> models(JsonParser from) throws IOException {
    List<ServedModel> models = new ArrayList<>();
    int entries = 0;
    for (; from.nextToken() != JsonToken.END_ARRAY; entries++) {
      ServedModel model =
          from.currentToken() == JsonToken.START_OBJECT && entries < MOST_MODELS ? of(from) : null;
      from.skipChildren();
      if (model != null) {
        models.add(model);
      }
    }
    boolean isForeign = models.isEmpty() && entries > 0;
    return isForeign || entries > MOST_MODELS ? null : models;
  }

  /** The object that begins here; null if it names no model. */
  private static @Nullable ServedModel of(JsonParser from) throws IOException {
    String id = null;
    String parent = null;
    String root = null;
    int maxTokens = 0;
    StringWriter entry = new StringWriter();
    try (JsonGenerator to = JSON.createGenerator(entry)) {
      to.writeStartObject();
      while (from.nextToken() != JsonToken.END_OBJECT) {
        String field = from.currentName();
        String text = from.nextToken() == JsonToken.VALUE_STRING ? from.getText() : null;
        id = field.equals("id") ? text : id;
        parent = field.equals("parent") ? text : parent;
        root = field.equals("root") ? text : root;
        maxTokens = field.equals("max_model_len") ? (int) from.getValueAsDouble() : maxTokens;
        to.writeFieldName(field);
        to.copyCurrentStructure(from);
      }
      to.writeEndObject();
    }
    return id == null ? null : new ServedModel(id, id, parent, root, maxTokens, entry.toString());
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
    StringWriter listed = new StringWriter();
    try (JsonParser from = JSON.createParser(entry);
        JsonGenerator to = JSON.createGenerator(listed)) {
      from.nextToken();
      to.writeStartObject();
      while (from.nextToken() != JsonToken.END_OBJECT) {
        boolean isId = from.currentName().equals("id");
        to.writeFieldName(from.currentName());
        from.nextToken();
        if (isId) {
          from.skipChildren();
          to.writeString(joined);
        } else {
          to.copyCurrentStructure(from);
        }
      }
      to.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("entry=" + entry.length() + " characters", e);
    }
    return new ServedModel(joined, name, parent, root, maxTokens, listed.toString());
  }
}
