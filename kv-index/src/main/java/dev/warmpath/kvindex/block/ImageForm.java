package dev.warmpath.kvindex.block;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How an engine makes the identifier of an image, which stands in {@link ExtraKey.Multimodal}: a
 * digest of the file's bytes and the model's name, with or without a frame around them.
 *
 * @param framed whether each piece has its length in front of it, as since vLLM 0.31
 * @param model the engine's {@code --model}, as it was resolved
 */
public record ImageForm(boolean framed, Algorithm algorithm, String model) {

  /** {@code --mm-hasher-algorithm}. Their order is that of snapshots. */
  public enum Algorithm {
    BLAKE3,
    SHA256,
    SHA512
  }

  /** All forms that engines with this model may have, the most usual ones first. */
  public static List<ImageForm> all(String model) {
    List<ImageForm> all = new ArrayList<>();
    for (Algorithm algorithm : Algorithm.values()) {
      all.add(new ImageForm(true, algorithm, model));
      all.add(new ImageForm(false, algorithm, model));
    }
    return all;
  }

  /** The form without the model's name, for people and metrics. */
  public String label() {
    return algorithm.name().toLowerCase(Locale.ROOT) + (framed ? " framed" : " bare");
  }
}
