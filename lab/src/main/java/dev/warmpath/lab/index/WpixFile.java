package dev.warmpath.lab.index;

import java.io.IOException;
import java.nio.file.Path;

/** A corpus in a WPIX file; its exact answers are worked out from what it says. */
record WpixFile(Path file) implements CorpusSource {

  @Override
  public String name() {
    return String.valueOf(file.getFileName());
  }

  @Override
  public CorpusShape shape() {
    return CorpusShape.SIMPLE;
  }

  @Override
  public ExactAnswers feed(CorpusSink sink) throws IOException {
    CorpusModel model = new CorpusModel(sink);
    try (WpixReader reader = WpixReader.open(file, shape().space().rootKey())) {
      while (reader.next(model)) {
        // the model counts
      }
    } catch (IllegalArgumentException e) {
      throw new WpixException(file + ": " + e.getMessage());
    }
    return model.answers();
  }
}
