package dev.warmpath.tokenizer.train;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Writes a vocabulary as a {@code tokenizer.json} that every reader of that format takes.
 *
 * <p>The special tokens get the ids after the vocabulary's.
 */
public final class TokenizerFile {

  private TokenizerFile() {}

  /** The file's content, a line at the end included. */
  public static String of(BpeVocabulary vocabulary, List<String> specialTokens) {
    StringWriter out = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("version", "1.0");
      json.writeNullField("truncation");
      json.writeNullField("padding");
      writeAddedTokens(json, vocabulary.size(), specialTokens);
      json.writeNullField("normalizer");
      writeByteLevel(json, "pre_tokenizer", true);
      writeByteLevel(json, "post_processor", false);
      writeByteLevel(json, "decoder", false);
      writeModel(json, vocabulary);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.append('\n').toString();
  }

  private static void writeAddedTokens(JsonGenerator json, int firstId, List<String> tokens)
      throws IOException {
    json.writeArrayFieldStart("added_tokens");
    for (int i = 0; i < tokens.size(); i++) {
      json.writeStartObject();
      json.writeNumberField("id", firstId + i);
      json.writeStringField("content", tokens.get(i));
      for (String property : List.of("single_word", "lstrip", "rstrip", "normalized")) {
        json.writeBooleanField(property, false);
      }
      json.writeBooleanField("special", true);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void writeByteLevel(JsonGenerator json, String field, boolean useRegex)
      throws IOException {
    json.writeObjectFieldStart(field);
    json.writeStringField("type", "ByteLevel");
    json.writeBooleanField("add_prefix_space", false);
    json.writeBooleanField("trim_offsets", false);
    json.writeBooleanField("use_regex", useRegex);
    json.writeEndObject();
  }

  private static void writeModel(JsonGenerator json, BpeVocabulary vocabulary) throws IOException {
    json.writeObjectFieldStart("model");
    json.writeStringField("type", "BPE");
    for (String absent : List.of("dropout", "unk_token")) {
      json.writeNullField(absent);
    }
    json.writeStringField("continuing_subword_prefix", "");
    json.writeStringField("end_of_word_suffix", "");
    for (String off : List.of("fuse_unk", "byte_fallback", "ignore_merges")) {
      json.writeBooleanField(off, false);
    }
    json.writeObjectFieldStart("vocab");
    for (int id = 0; id < vocabulary.size(); id++) {
      json.writeNumberField(vocabulary.tokens().get(id), id);
    }
    json.writeEndObject();
    json.writeArrayFieldStart("merges");
    for (Merge merge : vocabulary.merges()) {
      json.writeString(merge.left() + " " + merge.right());
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
