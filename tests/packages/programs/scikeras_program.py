"""SciKeras and scikit-learn: Keras models as estimators in pipelines, searches and cross-validation."""

import pickle

import numpy as np
import tensorflow as tf
from checks import check
from scikeras.wrappers import KerasClassifier, KerasRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X = np.random.default_rng(0).random((60, 4)).astype("float32")
Y = X.sum(1)
LABELS = (Y > 2).astype(int)


def network(meta, units=8):
    outputs = 1
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(units, "relu")])
    last = "sigmoid" if meta["target_type_"] == "binary" else None
    model.add(tf.keras.layers.Dense(outputs, last))
    return model


def regressor():
    return KerasRegressor(network, loss="mse", optimizer="adam", epochs=30, verbose=0, random_state=1)


def classifier():
    return KerasClassifier(network, loss="binary_crossentropy", optimizer="adam", epochs=30, verbose=0, random_state=1)


check("regression", lambda: bool(regressor().fit(X, Y).score(X, Y) > -5))
check("classification", lambda: classifier().fit(X, LABELS).predict(X).shape)
check("pipeline", lambda: make_pipeline(StandardScaler(), classifier()).fit(X, LABELS).predict_proba(X).shape)
check("cross-validation", lambda: len(cross_val_score(regressor(), X, Y, cv=2)))
check(
    "search",
    lambda: sorted(
        GridSearchCV(KerasRegressor(network, loss="mse", units=4, verbose=0), {"units": [2, 4]}, cv=2)
        .fit(X, Y)
        .best_params_
    ),
)


def pickled():
    fitted = regressor().fit(X, Y)
    return float(np.abs(pickle.loads(pickle.dumps(fitted)).predict(X) - fitted.predict(X)).max())


check("pickle", pickled)
