package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A request that somebody wants to see as tokens.
 *
 * <p>Immutable; the body is not to be changed.
 *
 * @param kind how it is read
 */
record TokenizeInput(RequestKind kind, ObjectNode body) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** A completions request. */
  static TokenizeInput ofText(String text) {
    return new TokenizeInput(RequestKind.COMPLETION, JSON.createObjectNode().put("prompt", text));
  }

  /**
   * Reads a body, or its messages or items alone.
   *
   * @param flag names it in errors
   * @param file {@code -} for the standard input
   */
  static TokenizeInput read(RequestKind kind, String flag, String file) {
    JsonNode read = json(flag, file);
    if (read.isArray()) {
      return new TokenizeInput(kind, around(kind, read));
    }
    if (read instanceof ObjectNode body) {
      return new TokenizeInput(kind, body);
    }
    throw CommandException.usage(flag + " " + file + ": neither a request body nor a list");
  }

  /** The shortest body with this list; a Messages request must bound its answer. */
  private static ObjectNode around(RequestKind kind, JsonNode list) {
    ObjectNode body = JSON.createObjectNode();
    if (kind == RequestKind.MESSAGES) {
      body.put("max_tokens", 1);
    }
    return body.set(kind == RequestKind.RESPONSES ? "input" : "messages", list);
  }

  private static JsonNode json(String flag, String file) {
    try (InputStream in = file.equals("-") ? System.in : Files.newInputStream(Path.of(file))) {
      return JSON.readTree(in);
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      throw CommandException.usage(
          flag + " " + file + ": line " + line + ": " + e.getOriginalMessage());
    } catch (IOException e) {
      throw CommandException.failed(flag + " " + file + ": not readable: " + e);
    }
  }
}
